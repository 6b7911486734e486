// sweep.js: a sweep as two charts and a table that know of each other.
'use strict';

const figures = {
  elapsed: { label: 'elapsed time', unit: 'us', of: (s, i) => s.elapsed_ps[i] / 1e6, format: v => v },
  busbw: { label: 'busbw', unit: 'GB/s', of: (s, i) => s.busbw[i] / 1e9, rate: true },
  algbw: { label: 'algbw', unit: 'GB/s', of: (s, i) => s.algbw[i] / 1e9, rate: true },
  wire: { label: 'wire rate', unit: 'GB/s', of: (s, i) => s.wire[i] / 1e9, rate: true },
  reached: { label: 'reached of the bound', unit: '%', of: (s, i) => (s.elapsed_ps[i] ? 100 * s.bound_ps[i] / s.elapsed_ps[i] : NaN) },
  peak: { label: 'fullest send queue', unit: 'WQEBB', of: (s, i) => s.peak_sq[i] },
};

function sweepSections(res) {
  const s = res.sweep, n = s.elapsed_ps.length, ok = i => s.words[s.status[i]] === 'ok' || s.words[s.status[i]] === 'hazard';
  const ended = i => ok(i) || s.words[s.status[i]] === 'wrong_data', none = '-'; // what has not ended has no figures
  const chosen = {}; // axis -> value, or none: all
  const st = { words: '', by: -1, up: true, hover: -1, pick: -1, list: [] };
  const value = (a, i) => a.values[a.points[i]];
  const long = s.axes.filter(a => a.values.length > 1);

  // ---- charts ----
  // A name among axes, such as an algorithm's, has no place on a scale: it gives colours, and points that no line joins.
  const prefix = list => { let k = 0; while (list.length > 1 && list[0][k] !== undefined && list.every(v => v[k] === list[0][k])) k++; return list.length > 1 ? list[0].slice(0, k).lastIndexOf('/') + 1 : 0; };
  const cut = t => (t.length > 18 ? t.slice(0, 17) + '…' : t);
  const xs = long.map(a => ({ key: a.name, label: a.name, unit: a.unit, at: i => (a.at ? a.at[a.points[i]] : a.points[i]), format: v => (a.at ? (a.unit === 'B' ? bytes(v) : a.unit === 's' ? span(v * 1e12) : String(+v.toPrecision(6))) : a.values[v] === undefined ? '' : cut(a.values[v].slice(prefix(a.values)))), names: !a.at, splits: a.at && a.values.length > 12 ? null : a.values.map((_, k) => (a.at ? a.at[k] : k)).sort((p, q) => p - q), log: a.at && a.values.length > 2 && Math.min(...a.at) > 0 && Math.max(...a.at) / Math.min(...a.at) >= 16 ? (a.unit === 'B' ? 2 : 10) : 0, axis: a }));
  if (!long.some(a => a.unit === 'B') && new Set(s.size_bytes.filter((b, i) => b > 0 && ok(i))).size > 2) xs.push({ key: 'size', label: T('message size'), at: i => s.size_bytes[i], format: bytes, splits: null, log: 2, axis: sizeAxis() });
  // sizeAxis is the axis that decides the message size: with the others held, sizes differ most along it.
  function sizeAxis() {
    let best = null, most = 1;
    for (const a of long) {
      const groups = new Map();
      for (let i = 0; i < n; i++) if (ok(i)) { const k = long.map(b => (b === a ? '' : b.points[i])).join(' '); groups.set(k, (groups.get(k) || new Set()).add(s.size_bytes[i])); }
      const mean = [...groups.values()].reduce((t, g) => t + g.size, 0) / (groups.size || 1);
      if (mean > most) { most = mean; best = a; }
    }
    return best;
  }
  if (!xs.length) xs.push({ key: 'point', label: T('point'), at: i => i, format: v => String(v), splits: null, log: 0, axis: null });
  const bySize = xs.find(x => x.unit === 'B') || xs.find(x => x.key === 'size'), byAxis = [xs.find(x => x.key === s.axis), xs.find(x => x !== bySize), bySize, xs[0]].find(x => x && !x.names) || xs[0];

  function chart(id, x, fig, height) {
    const names = long.find(a => a.name === s.axis && !a.at); // what the sweep compares
    const state = { x, fig, colour: x.axis === names ? null : names || null, log: (!!figures[fig].rate || !!names) && !!x.log };
    const box = el('div'), legendBox = el('div', { class: 'legend' });
    let now = null;
    const draw = () => {
      const f = figures[state.fig], X = state.x, others = long.filter(a => a !== X.axis);
      if (!others.includes(state.colour)) state.colour = others.find(a => a.values.length <= 24) || others[0] || null;
      const used = st.list.filter(i => ok(i) && (!X.log || X.at(i) > 0) && isFinite(f.of(s, i)) && (!state.log || f.of(s, i) > 0));
      const groups = new Map();
      for (const i of used) {
        const key = others.map(a => a.points[i]).join(' ');
        if (!groups.has(key)) groups.set(key, []);
        groups.get(key).push(i);
      }
      const grid = [...new Set(used.map(X.at))].sort((a, b) => a - b), where = new Map(grid.map((v, k) => [v, k]));
      const data = [grid], curves = [], bands = [];
      const blank = () => Array(grid.length).fill(null);
      const tint = k => series[k % series.length];
      const many = groups.size > 12;
      const threads = many ? [...groups.values()].map(list => ({ colour: tint(state.colour ? state.colour.points[list[0]] : 0), joined: !X.names, points: list.map(i => [X.at(i), f.of(s, i)]).sort((a, b) => a[0] - b[0]) })) : [];
      if (many) { // uPlot is given what it scales its axes by
        const low = Array(grid.length).fill(Infinity), high = Array(grid.length).fill(-Infinity);
        for (const i of used) { const k = where.get(X.at(i)), y = f.of(s, i); low[k] = Math.min(low[k], y); high[k] = Math.max(high[k], y); }
        data.push(low, high);
        curves.push({ label: '', width: 0, points: false }, { label: '', width: 0, points: false });
      }
      const joined = X.names ? 0 : 1.8;
      for (const list of many ? [] : groups.values()) {
        const c = tint(state.colour ? state.colour.points[list[0]] : 0), y = blank(), low = blank(), high = blank(), bound = blank();
        let drawn = false;
        for (const i of list) {
          const k = where.get(X.at(i));
          y[k] = f.of(s, i); bound[k] = s.bound_ps[i] / 1e6;
          if (s.low_ps && s.high_ps[i] && state.fig === 'elapsed') { low[k] = s.low_ps[i] / 1e6; high[k] = s.high_ps[i] / 1e6; drawn = true; }
          if (s.busbw_low && s.busbw_high[i] && state.fig === 'busbw') { low[k] = s.busbw_low[i] / 1e9; high[k] = s.busbw_high[i] / 1e9; drawn = true; }
        }
        data.push(y); curves.push({ label: '', colour: c, width: joined });
        if (drawn) { // the band, between two curves that are not drawn
          data.push(high, low);
          for (let k = 0; k < 2; k++) curves.push({ label: '', colour: c, width: 0.5, points: false });
          bands.push({ series: [data.length - 2, data.length - 1], fill: c + '2e' });
        }
        if (state.fig === 'elapsed' && joined && bound.some(v => v > 0)) {
          data.push(bound.map(v => (v > 0 ? v : null)));
          curves.push({ label: '', colour: c, width: 1, dash: [3, 4], points: false });
        }
      }
      const dots = used.map(i => ({ x: X.at(i), y: f.of(s, i), i }));
      const byPoint = new Map(dots.map(d => [d.i, d]));
      const picks = new Set(s.picks || []);
      now = plot(id, {
        title: T(f.label) + ' / ' + X.label, height,
        x: { label: X.label + (X.log ? ' (' + T('logarithmic') + ')' : ''), log: X.log, format: X.format, splits: X.splits && X.splits.length <= 24 ? X.splits : null, space: X.unit === 'B' ? 64 : 40, turned: !!X.names },
        y: { label: T(f.label) + ', ' + f.unit, log: state.log ? 10 : 0, zero: !state.log, format: v => grouped(+v.toPrecision(4)) },
        data: grid.length ? data : [[0], [null]], curves: grid.length ? curves : [{ colour: '#888' }], bands, dots, threads,
        lines: f.rate && !state.algbw ? (s.roofs || []).map(r => ({ value: r.bytes_per_s / 1e9, label: T('roof') + ': ' + r.name + ' ' + gbps(r.bytes_per_s) + ' GB/s' })).slice(0, 6) : [],
        marks: () => [...(used.length <= 400 ? [...picks].map(i => byPoint.get(i)).filter(Boolean).map(d => ({ ...d, kind: 'pick' })) : []), ...[st.hover, st.pick].map(i => byPoint.get(i)).filter(Boolean).map(d => ({ ...d, kind: 'hover' }))],
        near: (u, ev, d) => { if (!d) { hideHint(); light(-1); return; } showHint(ev.clientX, ev.clientY, pointLines(d.i)); light(d.i, true); },
        left: () => light(-1),
        picked: d => d && choose(d.i, true),
      });
      box.replaceChildren(now);
      const names = state.colour ? [...new Set(used.map(i => state.colour.points[i]))].sort((a, b) => a - b) : [];
      legendBox.replaceChildren(...[state.colour && el('strong', {}, state.colour.name + ':'), ...names.slice(0, 24).map(k => el('span', {}, el('i', { class: 'dot', style: 'background:' + tint(k) }), state.colour.values[k])),
        names.length > 24 && el('span', { class: 'note' }, '+ ' + (names.length - 24)), state.fig === 'elapsed' && groups.size <= 12 && joined > 0 && el('span', { class: 'note' }, '┄ ' + T('lower bound')), bands.length > 0 && el('span', { class: 'note' }, '▒ ' + T('band of the parameters')), picks.size > 0 && used.length <= 400 && el('span', { class: 'note' }, el('i', { class: 'ring' }), T('recommended'))].filter(Boolean));
      colourBox.replaceChildren(...(others.length > 1 ? [select(T('colour'), others.map(a => [a.name, a.name]), state.colour && state.colour.name, v => { state.colour = long.find(a => a.name === v); draw(); })] : []));
    };
    const colourBox = el('span');
    const controls = el('div', { class: 'toolbar screen' },
      select('y', Object.entries(figures).map(([k, v]) => [k, T(v.label)]), state.fig, v => { state.fig = v; draw(); }),
      select('x', xs.map(v => [v.key, v.label]), state.x.key, v => { state.x = xs.find(q => q.key === v); draw(); }), colourBox,
      el('label', { class: 'field' }, el('input', { type: 'checkbox', checked: state.log, onchange: ev => { state.log = ev.target.checked; draw(); } }), el('span', {}, T('logarithmic'))));
    return { node: el('figure', { class: 'figure' }, controls, legendBox, box), draw, redraw: () => now && now.redraw() };
  }
  const charts = [chart('bandwidth', bySize || byAxis, bySize || !s.axis ? 'busbw' : 'busbw', 320), chart('core_num', byAxis, 'elapsed', 320)];

  // ---- points ----
  function pointLines(i) {
    const t = s.axes.map(a => a.name + ' ' + value(a, i)).join(', ');
    if (!ended(i)) return [t || T('point') + ' ' + i, T(s.words[s.status[i]]) + (s.elapsed_ps[i] ? ', ' + us(s.elapsed_ps[i]) + ' us' : ''), s.words[s.problem[i]] || null];
    return [t || T('point') + ' ' + i, us(s.elapsed_ps[i]) + ' us', 'busbw ' + gbps(s.busbw[i]) + ' GB/s', T('lower bound') + ' ' + us(s.bound_ps[i]) + ' us (' + percent(s.bound_ps[i], s.elapsed_ps[i]) + '), ' + s.words[s.bound_by[i]],
      s.words[s.limited_by[i]] ? T('limited by') + ' ' + s.words[s.limited_by[i]] : null, s.low_ps && s.high_ps[i] ? T('band') + ' ' + us(s.low_ps[i]) + ' – ' + us(s.high_ps[i]) + ' us' : null];
  }
  function light(i, scroll) {
    if (st.hover === i) return;
    st.hover = i;
    if (scroll && i >= 0) reveal(i);
    paintRows();
    for (const c of charts) c.redraw();
  }
  function choose(i, scroll) {
    st.pick = i;
    if (scroll) reveal(i);
    paintRows();
    for (const c of charts) c.redraw();
    const parts = [], p = s.parts[i];
    for (let k = 0; k < p.length; k += 2) parts.push({ name: s.causes[p[k]], time: p[k + 1], what: reasonWords[s.causes[p[k]]] });
    parts.sort((a, b) => b.time - a.time);
    const l = pointLines(i);
    about.replaceChildren(el('h3', {}, l[0]), el('p', {}, l.slice(1).filter(Boolean).join(' · ')), s.words[s.problem[i]] ? el('p', { class: 'warn' }, s.words[s.problem[i]]) : '', s.words[s.outside[i]] ? el('p', { class: 'warn' }, T('outside what was measured') + ': ' + s.words[s.outside[i]]) : '',
      parts.length ? causeBar(parts, s.elapsed_ps[i], T('time by cause')) : '', el('p', { class: 'note' }, T('digest') + ' ', el('code', {}, s.digest[i] || '-')));
  }

  // ---- table: only the rows in view are in the document ----
  const rowH = 26, columns = [
    ...s.axes.map(a => ({ name: a.name, text: i => value(a, i), key: i => (a.at ? a.at[a.points[i]] : value(a, i)), right: !!a.at })),
    { name: 'status', text: i => T(s.words[s.status[i]]) },
    ...[
      { name: 'us', text: i => us(s.elapsed_ps[i]), key: i => s.elapsed_ps[i], has: i => s.elapsed_ps[i] > 0 },
      ...(s.low_ps ? [{ name: 'band, us', text: i => (s.high_ps[i] ? us(s.low_ps[i]) + ' – ' + us(s.high_ps[i]) : ''), key: i => s.high_ps[i] - s.low_ps[i] }] : []),
      { name: 'bound, us', text: i => us(s.bound_ps[i]), key: i => s.bound_ps[i] },
      { name: 'reached %', text: i => (s.elapsed_ps[i] ? (100 * s.bound_ps[i] / s.elapsed_ps[i]).toFixed(1) : ''), key: i => (s.elapsed_ps[i] ? s.bound_ps[i] / s.elapsed_ps[i] : -1) },
      { name: 'busbw GB/s', text: i => gbps(s.busbw[i]), key: i => s.busbw[i] },
      { name: 'algbw GB/s', text: i => gbps(s.algbw[i]), key: i => s.algbw[i] },
    ].map(c => ({ has: ended, ...c, right: true })).map(c => ({ ...c, text: i => (c.has(i) ? c.text(i) : none) })),
    { name: 'limited by', text: i => s.words[s.limited_by[i]] || (ended(i) ? '' : s.words[s.problem[i]]) },
    { name: 'SQ peak', text: i => (ended(i) ? String(s.peak_sq[i]) : none), key: i => s.peak_sq[i], has: ended, right: true },
    ...(s.outside.some(k => s.words[k]) ? [{ name: 'outside', text: i => (s.words[s.outside[i]] ? T('yes') : '') }] : []),
  ];
  const body = el('tbody'), counted = el('span', { class: 'note', 'aria-live': 'polite' });
  const heads = columns.map((c, j) => el('th', { scope: 'col', class: c.right ? 'right' : '', 'aria-sort': 'none' }, el('button', { type: 'button', class: 'sort', onclick: () => { st.up = st.by === j ? !st.up : true; st.by = j; fill(); } }, T(c.name))));
  const pane = el('div', { class: 'pane', tabindex: 0, 'aria-label': T('points'), onscroll: () => paintRows() }, el('table', { class: 'points', 'aria-rowcount': n }, el('thead', {}, el('tr', {}, heads)), body));
  let all = false; // for print
  function paintRows() {
    const list = st.list, head = 30, first = all ? 0 : Math.max(0, Math.floor((pane.scrollTop - head) / rowH) - 6), last = all ? Math.min(list.length, 500) : Math.min(list.length, first + Math.ceil((pane.clientHeight || 420) / rowH) + 14);
    const gap = h => el('tr', { class: 'gap', 'aria-hidden': true, style: `height:${h}px` }, el('td', { colspan: columns.length }));
    const out = [];
    if (first > 0) out.push(gap(first * rowH));
    for (let k = first; k < last; k++) {
      const i = list[k];
      out.push(el('tr', { 'data-point': i, 'aria-rowindex': k + 2, 'aria-selected': i === st.pick ? 'true' : 'false', class: (i === st.hover ? 'hover ' : '') + (i === st.pick ? 'picked ' : '') + (ok(i) ? '' : 'bad') },
        columns.map(c => { const t = c.text(i); return el('td', { class: c.right ? 'right' : '', title: t.length > 28 ? t : null }, t); })));
    }
    if (last < list.length && !all) out.push(gap((list.length - last) * rowH));
    body.replaceChildren(...out);
  }
  body.addEventListener('pointerover', ev => { const r = ev.target.closest('tr[data-point]'); if (r) light(+r.dataset.point); });
  body.addEventListener('pointerleave', () => light(-1));
  body.addEventListener('click', ev => { const r = ev.target.closest('tr[data-point]'); if (r) choose(+r.dataset.point); });
  pane.addEventListener('keydown', ev => {
    const d = { ArrowDown: 1, ArrowUp: -1, PageDown: 12, PageUp: -12, Home: -n, End: n }[ev.key];
    if (!d || !st.list.length) return;
    ev.preventDefault();
    const k = Math.min(Math.max(st.list.indexOf(st.pick) + d, 0), st.list.length - 1);
    choose(st.list[k], true);
  });
  function reveal(i) {
    const k = st.list.indexOf(i), y = k * rowH;
    if (k < 0) return;
    if (y < pane.scrollTop || y + 2 * rowH + 30 > pane.scrollTop + pane.clientHeight) pane.scrollTop = Math.max(0, y - pane.clientHeight / 2);
  }
  function fill() {
    const words = st.words.toLowerCase().split(/\s+/).filter(Boolean);
    let list = [];
    for (let i = 0; i < n; i++) {
      if (long.some(a => chosen[a.name] !== undefined && a.points[i] !== chosen[a.name])) continue;
      if (words.length) { const text = columns.map(c => c.text(i)).join(' ').toLowerCase(); if (!words.every(w => text.includes(w))) continue; }
      list.push(i);
    }
    if (st.by >= 0) {
      const c = columns[st.by], key = c.key || c.text;
      const has = c.has || (() => true); // what has none comes last, whatever the order
      list = list.map(i => [key(i), i]).sort((a, b) => has(b[1]) - has(a[1]) || (st.up ? 1 : -1) * (typeof a[0] === 'number' ? a[0] - b[0] : order(a[0], b[0])) || a[1] - b[1]).map(p => p[1]);
    }
    heads.forEach((h, j) => h.setAttribute('aria-sort', j !== st.by ? 'none' : st.up ? 'ascending' : 'descending'));
    st.list = list;
    counted.textContent = list.length + ' / ' + n + ' ' + T('points');
    paintRows();
  }
  const refilter = () => { fill(); for (const c of charts) c.draw(); };
  const filters = el('div', { class: 'toolbar screen' }, long.map(a => select(a.name, [['', T('all')], ...a.values.map((v, k) => [k, v])], '', v => { if (v === '') delete chosen[a.name]; else chosen[a.name] = +v; refilter(); })),
    el('label', { class: 'field' }, el('span', {}, T('filter')), el('input', { type: 'search', 'data-filter': true, oninput: ev => { st.words = ev.target.value; refilter(); } })), counted);
  const about = el('div', { class: 'about', 'aria-live': 'polite' }, el('p', { class: 'note' }, T('Choose a row or a point: what its time was spent on is shown here.')));
  addEventListener('beforeprint', () => { all = true; paintRows(); });
  addEventListener('afterprint', () => { all = false; paintRows(); });
  fill();
  for (const c of charts) c.draw();
  requestAnimationFrame(paintRows);
  return [
    section('charts', 'Charts', filters, el('div', { class: 'two' }, charts.map(c => c.node))),
    section('points', 'Points', el('p', { class: 'note screen' }, T('Headings sort; ↑ ↓ move; a row and its points in the charts are marked together.')), pane, about),
  ];
}
