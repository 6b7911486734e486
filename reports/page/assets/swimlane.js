// swimlane.js: what every part of the machine does over time, drawn on a canvas; zoom, pan,
// hints, selection, and the critical path through it.
'use strict';

const narrow = innerWidth < 640, gutter = narrow ? 104 : 168, rulerH = 24, pathH = 22;

// queueOf is the cause of waiting for what another cause is the use of.
const queueOf = cause => (cause === 'sdma_rate' ? 'sdma_queue' : cause + '_queue');

const pairText = h => (h.peer < 0 ? T('rank') + ' ' + h.rank : h.rank + ' → ' + h.peer);

// piecesOf splits a step of the path into the time in which others held what it needed and
// its own, the wait first: turns alternate, and the path knows their sums.
function piecesOf(st) {
  const own = { cause: st.cause, from_ps: st.from_ps + (st.queued_ps || 0), to_ps: st.to_ps };
  if (!st.queued_ps) return [own];
  const wait = { cause: queueOf(st.cause), from_ps: st.from_ps, to_ps: own.from_ps, holder: st.holder ? pairText(st.holder) : '' };
  return own.from_ps < own.to_ps ? [wait, own] : [wait];
}

// holderWords says in the page's language whom a span waits for.
function holderWords(text) { const m = /^rank (\d+)$/.exec(text); return m ? T('rank') + ' ' + m[1] : T(text); }

function swimlane(res) {
  const line = res.line, r = res.run.result, steps = (r.path && r.path.steps) || [], tree = lanesOf(line);
  // The chart ends with what is done last; counters of rates go on to the end of their microsecond.
  const whole = wholeRun(r), end = line.tracks.reduce((m, t) => (t.n && !t.counter ? Math.max(m, t.end[t.n - 1]) : m), whole);
  const pieces = steps.flatMap(piecesOf); // of the path
  const s = { from: 0, to: end, open: new Set(), row: 0, picked: null, step: -1, path: true, marks: 0, ms: 0 };
  const stopsOf = new Map(); // by track: steps
  line.stops.forEach((t, i) => { if (t >= 0) { if (!stopsOf.has(t)) stopsOf.set(t, []); stopsOf.get(t).push(i); } });
  openCritical();

  const status = el('p', { class: 'note', 'aria-live': 'polite', 'data-status': true });
  const about = el('div', { class: 'about', 'data-about': true });
  const draw = canvas({ class: 'lanes', tabindex: 0, role: 'application', 'aria-label': T('swimlane'), 'aria-describedby': 'keys' }, paint);
  const filler = el('div', { class: 'filler' });
  const scroller = el('div', { class: 'lanescroll', onscroll: () => draw.redraw() }, draw, filler);
  const overview = canvas({ class: 'overview', 'aria-hidden': true }, paintOverview);
  let rows = [];
  refresh();

  // ---- state ----
  function openCritical() {
    const last = steps[steps.length - 1];
    const ranks = tree.filter(n => last && n.rank === last.rank);
    const node = ranks[0] || tree[0];
    if (!node) return;
    s.open.add(node.key);
    if (tree.length === 1 || !last) return;
    for (const g of node.children) if (g.all.some(t => stopsOf.has(t)) && g.kind === 'scalar') { s.open.add(g.key); break; }
  }
  function refresh() {
    rows = rowsOf(tree, s.open);
    filler.style.height = Math.max(0, rows.total) + 'px';
    s.row = Math.min(s.row, rows.length - 1);
    draw.redraw(); overview.redraw();
  }
  function view(from, to) {
    const least = 1000, w = Math.min(Math.max(to - from, least), end * 1.02); // 1 ns
    from = Math.min(Math.max(from, -0.02 * w), end + 0.02 * w - w);
    s.from = from; s.to = from + w;
    draw.redraw(); overview.redraw();
  }
  // act is what a key or a button does: what the pointer was on is elsewhere then.
  const act = f => () => { hideHint(); f(); };
  function zoom(f, x) {
    const t = x === undefined ? (s.from + s.to) / 2 : time(x);
    view(t - (t - s.from) * f, t + (s.to - t) * f);
  }
  const pan = f => view(s.from + f * (s.to - s.from), s.to + f * (s.to - s.from));
  const time = x => s.from + (x - gutter) / (draw.clientWidth - gutter) * (s.to - s.from);
  const toggle = node => { if (!node.children.length) return; if (!s.open.delete(node.key)) s.open.add(node.key); refresh(); };

  // ---- painting ----
  function paint(g, w, h) {
    const began = performance.now(), top = scroller.scrollTop, scale = (w - gutter) / (s.to - s.from), X = t => gutter + (t - s.from) * scale, grain = 1 / scale;
    g.clearRect(0, 0, w, h);
    g.font = '11px system-ui, sans-serif'; g.textBaseline = 'middle';
    const ink = css('ink'), faint = css('faint'), rule = css('line'), band = css('band'), path = css('path');
    s.marks = 0;
    g.save(); g.beginPath(); g.rect(0, rulerH + pathH, w, h); g.clip();
    const ys = new Map(); // by track: where its row is
    for (let k = 0; k < rows.length; k++) {
      const row = rows[k], y = rulerH + pathH + row.y - top;
      for (const t of row.open ? (row.node.track >= 0 ? [row.node.track] : []) : row.node.all) ys.set(t, y + row.h - 2);
      if (y + row.h < rulerH + pathH || y > h) continue;
      if (row.depth === 0) { g.fillStyle = band; g.fillRect(0, y, w, row.h); }
      g.fillStyle = rule; g.fillRect(0, y + row.h - 1, w, 1);
      if (row.node.track >= 0) paintTrack(g, line.tracks[row.node.track], row.node.track, y, row.h, X, w, grain);
      if (s.path) paintStops(g, row, y, X, w, grain, path);
    }
    if (s.path) paintArrows(g, ys, X, w, path);
    g.restore();
    for (let k = 0; k < rows.length; k++) {
      const row = rows[k], y = rulerH + pathH + row.y - top;
      if (y + row.h < rulerH + pathH || y > h) continue;
      g.save(); g.beginPath(); g.rect(0, Math.max(y, rulerH + pathH), gutter, row.h - 1); g.clip();
      g.fillStyle = row.depth === 0 ? band : css('card'); g.fillRect(0, y, gutter, row.h - 1);
      g.fillStyle = row.depth === 0 ? ink : faint; g.font = (row.depth === 0 ? '600 ' : '') + '11px system-ui, sans-serif';
      const mark = row.node.children.length ? (row.open ? '▾ ' : '▸ ') : '   ';
      g.fillText(mark + row.node.name, 6 + row.depth * 12, y + row.h / 2);
      if (k === s.row && document.activeElement === draw) { g.strokeStyle = css('focus'); g.lineWidth = 2; g.strokeRect(2, y + 1, gutter - 4, row.h - 3); }
      g.restore();
    }
    paintRuler(g, w, X, ink, faint, rule);
    paintPath(g, w, X, grain);
    g.fillStyle = rule; g.fillRect(gutter - 1, 0, 1, h);
    s.ms = performance.now() - began;
    draw.dataset.marks = s.marks; draw.dataset.ms = s.ms.toFixed(1); draw.dataset.from = s.from; draw.dataset.to = s.to;
  }
  function paintTrack(g, t, index, y, h, X, w, grain) {
    if (t.counter) {
      const top = t.kind === 'depth' && res.run.sq_depth_wqebb ? Math.max(t.top, 1) : Math.max(t.top, 1);
      g.fillStyle = css('counter');
      visitValues(t, s.from, s.to, grain, (b, e, v) => {
        s.marks++;
        const x = Math.max(X(b), gutter), z = Math.min(Math.max(X(e), x + 1), w), d = (h - 4) * v / top;
        if (v) g.fillRect(x, y + h - 2 - d, z - x, d);
      });
      return;
    }
    let lastX = -1, lastName = '';
    s.marks += visit(t, s.from, s.to, grain, i => {
      const d = line.details[t.detail[i]], name = line.words[d[0]], x = Math.max(X(t.begin[i]), gutter), z = Math.min(X(t.end[i]), w), c = colour(name);
      g.globalAlpha = name === 'idle' || name === 'signal_wait' ? 0.55 : 1;
      g.fillStyle = c; g.fillRect(x, y + 2, Math.max(1, z - x - (z - x > 3 ? 0.6 : 0)), h - 5);
      g.globalAlpha = 1;
      if (z - x > 44 && h >= 16) {
        const op = line.words[d[1]], text = name + (op ? ' · ' + op : '');
        g.save(); g.beginPath(); g.rect(x, y, z - x - 3, h); g.clip(); g.fillStyle = inkOn(c); g.font = '10px system-ui, sans-serif'; g.fillText(text, x + 4, y + h / 2 - 0.5); g.restore();
      }
      if (s.picked && s.picked.track === index && s.picked.i === i) { g.strokeStyle = css('ink'); g.lineWidth = 2; g.strokeRect(x, y + 1, Math.max(2, z - x), h - 3); }
    }, (b, e, busy, detail) => {
      const x = Math.max(Math.floor(X(b)), gutter), name = line.words[line.details[detail][0]];
      if (x === lastX && name === lastName) return;
      lastX = x; lastName = name;
      g.globalAlpha = Math.max(0.35, Math.min(1, busy * (1 / grain)));
      g.fillStyle = colour(name); g.fillRect(x, y + 2, 1, h - 5);
      g.globalAlpha = 1;
    });
  }
  function paintStops(g, row, y, X, w, grain, path) {
    const tracks = row.open && row.depth < 2 ? (row.node.track >= 0 ? [row.node.track] : []) : row.node.all;
    g.fillStyle = path;
    for (const t of tracks) for (const i of stopsOf.get(t) || []) {
      const st = steps[i];
      if (st.to_ps <= s.from || st.from_ps >= s.to) continue;
      const x = Math.max(X(st.from_ps), gutter), z = Math.min(X(st.to_ps), w);
      g.fillRect(x, y + row.h - 4, Math.max(1, z - x), 3);
      if (i === s.step) { g.strokeStyle = path; g.lineWidth = 2; g.strokeRect(x, y + 1, Math.max(2, z - x), row.h - 3); }
    }
  }
  // paintArrows joins the stops of the path where one leads to the next on another row.
  function paintArrows(g, ys, X, w, path) {
    const first = lower(s.from), n = lower(s.to) - first;
    if (n > 600) return;
    g.strokeStyle = path; g.lineWidth = 1; g.globalAlpha = 0.7;
    for (let i = Math.max(1, first); i < Math.min(steps.length, first + n + 1); i++) {
      const a = ys.get(line.stops[i - 1]), b = ys.get(line.stops[i]), x = X(steps[i].from_ps);
      if (a === undefined || b === undefined || a === b || x < gutter || x > w) continue;
      g.beginPath(); g.moveTo(x, a); g.lineTo(x, b); g.stroke();
    }
    g.globalAlpha = 1;
  }
  function lower(t, list = steps) { let lo = 0, hi = list.length; while (lo < hi) { const m = (lo + hi) >> 1; if (list[m].to_ps <= t) lo = m + 1; else hi = m; } return lo; }
  function paintRuler(g, w, X, ink, faint, rule) {
    g.fillStyle = css('card'); g.fillRect(0, 0, w, rulerH + pathH);
    const raw = (s.to - s.from) / Math.max(2, (w - gutter) / 95), ten = 10 ** Math.floor(Math.log10(raw)), step = [1, 2, 5, 10].map(m => m * ten).find(v => v >= raw);
    g.font = '11px system-ui, sans-serif'; g.fillStyle = faint; g.textAlign = 'center';
    for (let t = Math.ceil(s.from / step) * step; t < s.to; t += step) {
      const x = X(t);
      if (x < gutter + 1) continue;
      g.fillStyle = rule; g.fillRect(x, rulerH - 6, 1, 6);
      if (x > gutter + 26 && x < w - 26) { g.fillStyle = faint; g.fillText(tick(t, step), x, 9); }
    }
    g.textAlign = 'left'; g.fillStyle = faint; g.fillText((narrow ? '' : T('simulated time') + ', ') + tickUnit(), 8, 10);
  }
  const tickUnit = () => s.to - s.from < 2e6 ? 'ns' : s.to - s.from < 2e9 ? 'us' : 'ms';
  function tick(t, step) { const f = { ns: 1e3, us: 1e6, ms: 1e9 }[tickUnit()]; return grouped((t / f).toFixed(Math.max(0, Math.ceil(-Math.log10(step / f) - 1e-9)))); }
  function paintPath(g, w, X, grain) {
    const y = rulerH;
    g.fillStyle = css('ink'); g.font = '600 11px system-ui, sans-serif'; g.fillText(T('critical path'), 8, y + pathH / 2);
    for (let i = lower(s.from, pieces); i < pieces.length && pieces[i].from_ps < s.to; i++) {
      const st = pieces[i], x = Math.max(X(st.from_ps), gutter), z = Math.min(X(st.to_ps), w), c = colour(st.cause);
      g.fillStyle = c; g.fillRect(x, y + 2, Math.max(1, z - x - (z - x > 3 ? 0.6 : 0)), pathH - 5);
      if (z - x > 50) { g.save(); g.beginPath(); g.rect(x, y, z - x - 3, pathH); g.clip(); g.fillStyle = inkOn(c); g.font = '10px system-ui, sans-serif'; g.fillText(st.cause + (st.holder ? ' · ' + st.holder : ''), x + 4, y + pathH / 2); g.restore(); }
    }
    if (s.step >= 0) { const st = steps[s.step], x = Math.max(X(st.from_ps), gutter), z = Math.min(X(st.to_ps), w); if (z > gutter) { g.strokeStyle = css('ink'); g.lineWidth = 2; g.strokeRect(x, y + 1, Math.max(2, z - x), pathH - 3); } }
    if (!steps.length) { g.fillStyle = css('faint'); g.font = '11px system-ui, sans-serif'; g.fillText(T('not recorded'), gutter + 8, y + pathH / 2); }
    g.fillStyle = css('line'); g.fillRect(0, y + pathH - 1, w, 1);
  }
  function paintOverview(g, w, h) {
    const X = t => gutter + t / end * (w - gutter);
    g.clearRect(0, 0, w, h);
    g.fillStyle = css('band'); g.fillRect(gutter, 0, w - gutter, h);
    for (const st of pieces) { g.fillStyle = colour(st.cause); g.fillRect(X(st.from_ps), 4, Math.max(0.5, X(st.to_ps) - X(st.from_ps)), h - 8); }
    g.fillStyle = css('veil'); g.fillRect(gutter, 0, X(Math.max(0, s.from)) - gutter, h); g.fillRect(X(s.to), 0, w - X(s.to), h);
    g.strokeStyle = css('focus'); g.lineWidth = 2; g.strokeRect(Math.max(gutter + 1, X(s.from)), 1, Math.max(4, Math.min(w, X(s.to)) - X(s.from)) - 2, h - 2);
    g.fillStyle = css('faint'); g.font = '11px system-ui, sans-serif'; g.textBaseline = 'middle'; g.fillText((narrow ? '' : T('whole run') + ': ') + us(whole) + ' us', 8, h / 2);
  }

  // ---- what is where ----
  function found(x, y) {
    const t = time(x);
    if (y < rulerH) return null;
    if (y < rulerH + pathH) { const i = lower(t); return i < steps.length && steps[i].from_ps <= t ? { step: i, t } : null; }
    const top = y - rulerH - pathH + scroller.scrollTop, k = rows.findIndex(q => top >= q.y && top < q.y + q.h);
    if (k < 0) return null;
    const row = rows[k];
    if (x < gutter || row.node.track < 0) return { row: k };
    const track = line.tracks[row.node.track], slack = (s.to - s.from) / (draw.clientWidth - gutter);
    let i = at(track, t);
    if (i < 0 && !track.counter) for (const d of [slack, -slack]) if ((i = at(track, t + d)) >= 0) break;
    return { row: k, track: row.node.track, i, t };
  }
  function linesOf(f) {
    if (f.step !== undefined) return stepLines(steps[f.step], f.t);
    const row = rows[f.row];
    if (f.track === undefined) return [row.node.name, row.node.children.length ? T('click to open or close') : null];
    const t = line.tracks[f.track], where = (t.rank >= 0 ? T('rank') + ' ' + t.rank + ', ' : '') + (t.group ? t.group + ', ' : '') + laneName(t);
    if (f.i < 0) return [where, T('nothing here')];
    if (t.counter) return [where, t.kind === 'rate' ? gbps(t.value[f.i]) + ' GB/s' : grouped(t.value[f.i]) + ' ' + (t.unit || ''), T('from') + ' ' + span(t.begin[f.i]), T('most') + ': ' + (t.kind === 'rate' ? gbps(t.top) + ' GB/s' : grouped(t.top))];
    const d = line.details[t.detail[f.i]], W = line.words, long = t.end[f.i] - t.begin[f.i], name = W[d[0]];
    return [name, where,
      (d[1] || d[2]) && [W[d[1]] && T('op') + ' ' + W[d[1]] + (d[5] >= 0 ? ' (#' + d[5] + ')' : ''), W[d[2]] && T('phase') + ' ' + W[d[2]]].filter(Boolean).join(', ') || null,
      d[4] >= 0 ? (W[d[3]] ? W[d[3]] + ', ' : '') + T('block') + ' ' + d[4] : null,
      d[6] >= 0 ? T('peer') + ' ' + d[6] : null,
      W[d[8]] ? T('waits for') + ' ' + holderWords(W[d[8]]) : null,
      heldBy(t.rank, d[4], W[d[3]], name),
      t.bytes[f.i] ? bytes(t.bytes[f.i]) + (long ? ', ' + gbps(t.bytes[f.i] / long * 1e12) + ' GB/s' : '') : null,
      t.seq ? 'WQE ' + t.seq[f.i] + (d[7] ? ', ' + d[7] + ' SGE' : '') : null,
      span(t.begin[f.i]) + ' – ' + span(t.end[f.i]) + ' = ' + span(long),
      causeHelp(name)];
  }
  function causeHelp(name) { const p = ((r.path && r.path.parts) || []).find(q => q.cause === name); return p ? T(p.what) : reasonWords[name] ? T(reasonWords[name]) : null; }
  // heldBy says for whom a block has waited in all for a reason.
  function heldBy(rank, block, call, reason) {
    const b = block >= 0 && r.blocks.find(x => x.rank === rank && x.block === block && (!call || (r.calls[x.call] || {}).name === call));
    const list = ((b && b.held) || []).filter(h => h.reason === reason).sort((p, q) => q.time_ps - p.time_ps);
    if (list.length < 2) return null;
    return T('in all') + ': ' + list.slice(0, 4).map(h => (h.peer < 0 ? T(reason === 'signal_wait' ? 'a sector of signal cells' : 'memory') : T('rank') + ' ' + h.peer) + ' ' + us(h.time_ps) + ' us').join(', ') + (list.length > 4 ? ', … (' + list.length + ')' : '');
  }
  // stepLines tells of a step; of one with a wait, of the piece that is at t too.
  function stepLines(st, t) {
    const where = st.block >= 0 ? T('rank') + ' ' + st.rank + ', ' + T('block') + ' ' + st.block : st.peer >= 0 ? st.rank + ' → ' + st.peer : st.rank >= 0 ? T('rank') + ' ' + st.rank : '';
    const parts = piecesOf(st), here = parts.find(p => t >= p.from_ps && t < p.to_ps) || parts[parts.length - 1];
    return [T('critical path') + ': ' + here.cause, where || null, st.op ? T('op') + ' ' + st.op + (st.phase ? ', ' + T('phase') + ' ' + st.phase : '') : null,
      span(st.from_ps) + ' – ' + span(st.to_ps) + ' = ' + span(st.to_ps - st.from_ps) + ' (' + percent(st.to_ps - st.from_ps, r.elapsed_ps) + ')',
      ...(parts.length > 1 ? parts.map(p => p.cause + ' ' + span(p.to_ps - p.from_ps)) : []), parts.length > 1 ? T('the two alternate: sums, the wait first') : null,
      st.queued_ps ? T('others held it for') + ' ' + span(st.queued_ps) + (st.holder ? ', ' + T('the last') + ' ' + pairText(st.holder) : '') : null, causeHelp(here.cause)];
  }
  function pick(f) {
    if (!f || (f.step === undefined && (f.track === undefined || f.i < 0))) return;
    s.picked = f.step === undefined ? { track: f.track, i: f.i } : null;
    s.step = f.step === undefined ? -1 : f.step;
    const lines = linesOf(f).filter(Boolean);
    about.replaceChildren(el('strong', {}, lines[0]), ...lines.slice(1).map(l => el('span', {}, l)));
    draw.redraw();
  }
  // go shows a step of the path: its row is opened and moved into view.
  function go(i) {
    if (!steps.length) return;
    i = Math.min(Math.max(i, 0), steps.length - 1);
    const t = line.stops[i], st = steps[i];
    if (t >= 0) for (const n of tree) if (n.all.includes(t)) {
      s.open.add(n.key);
      for (const g of n.children) if (g.all.includes(t) && g.track !== t) s.open.add(g.key);
    }
    refresh();
    const k = rows.findIndex(q => q.node.track === t || (!q.open && q.node.all.includes(t)));
    if (k >= 0) { s.row = k; scrollTo(k); }
    const w = s.to - s.from, d = st.to_ps - st.from_ps;
    if (st.from_ps < s.from || st.to_ps > s.to || d < w / 200) view(st.from_ps - 2 * Math.max(d, 1000), st.to_ps + 2 * Math.max(d, 1000));
    pick({ step: i });
    status.textContent = T('step') + ' ' + (i + 1) + ' / ' + steps.length;
  }
  function scrollTo(k) {
    const room = scroller.clientHeight - rulerH - pathH, q = rows[k];
    if (q.y < scroller.scrollTop) scroller.scrollTop = q.y;
    else if (q.y + q.h > scroller.scrollTop + room) scroller.scrollTop = q.y + q.h - room;
  }
  function move(d) { s.row = Math.min(Math.max(s.row + d, 0), rows.length - 1); scrollTo(s.row); status.textContent = rows[s.row].node.name; draw.redraw(); }
  function along(d) { // from span to span of the present row
    const t = rows[s.row].node.track;
    if (t < 0) return;
    const x = line.tracks[t];
    let i = s.picked && s.picked.track === t ? s.picked.i + d : Math.max(0, at(x, (s.from + s.to) / 2));
    i = Math.min(Math.max(i, 0), x.n - 1);
    const b = x.begin[i], e = x.counter ? b : x.end[i];
    if (e < s.from || b > s.to) view(b - (s.to - s.from) / 2, b + (s.to - s.from) / 2);
    pick({ row: s.row, track: t, i });
    status.textContent = about.textContent;
  }

  // ---- hands ----
  let drag = null;
  draw.addEventListener('pointerdown', ev => { drag = { x: ev.offsetX, y: ev.clientY, from: s.from, to: s.to, top: scroller.scrollTop, far: 0 }; draw.setPointerCapture(ev.pointerId); });
  draw.addEventListener('pointermove', ev => {
    if (drag) {
      const dx = ev.offsetX - drag.x, dy = ev.clientY - drag.y;
      drag.far = Math.max(drag.far, Math.abs(dx) + Math.abs(dy));
      if (drag.far < 4) return;
      hideHint();
      const d = dx / (draw.clientWidth - gutter) * (drag.to - drag.from);
      if (drag.x > gutter) view(drag.from - d, drag.to - d);
      scroller.scrollTop = drag.top - dy;
      return;
    }
    const f = found(ev.offsetX, ev.offsetY);
    draw.style.cursor = f && f.row !== undefined && ev.offsetX < gutter ? 'pointer' : 'grab';
    if (f) showHint(ev.clientX, ev.clientY, linesOf(f)); else hideHint();
  });
  draw.addEventListener('pointerup', ev => {
    const far = drag ? drag.far : 0;
    drag = null;
    if (far >= 4) return;
    const f = found(ev.offsetX, ev.offsetY);
    if (!f) return;
    if (f.row !== undefined) s.row = f.row;
    if (f.row !== undefined && ev.offsetX < gutter) act(() => toggle(rows[f.row].node))(); else pick(f);
  });
  draw.addEventListener('pointerleave', hideHint);
  draw.addEventListener('focus', draw.redraw);
  draw.addEventListener('blur', () => { hideHint(); draw.redraw(); });
  draw.addEventListener('dblclick', ev => {
    const f = found(ev.offsetX, ev.offsetY);
    if (!f) return;
    const [b, e] = f.step !== undefined ? [steps[f.step].from_ps, steps[f.step].to_ps] : f.i >= 0 && !line.tracks[f.track].counter ? [line.tracks[f.track].begin[f.i], line.tracks[f.track].end[f.i]] : [];
    if (e > b) view(b - (e - b) / 2, e + (e - b) / 2);
  });
  draw.addEventListener('wheel', ev => {
    if (ev.shiftKey) { ev.preventDefault(); pan((ev.deltaY || ev.deltaX) / 1200); return; }
    if (Math.abs(ev.deltaX) > Math.abs(ev.deltaY)) { ev.preventDefault(); pan(ev.deltaX / 1200); return; }
    if (!ev.ctrlKey && !ev.metaKey && (document.activeElement !== draw || ev.offsetX < gutter)) return; // the page scrolls, and the rows
    ev.preventDefault();
    zoom(Math.exp(Math.max(-80, Math.min(80, ev.deltaY)) / 240), Math.max(ev.offsetX, gutter));
  }, { passive: false });
  draw.addEventListener('keydown', ev => {
    if (ev.ctrlKey || ev.metaKey || ev.altKey) return;
    const does = {
      '+': () => zoom(0.6), '=': () => zoom(0.6), w: () => zoom(0.6), '-': () => zoom(1 / 0.6), s: () => zoom(1 / 0.6),
      ArrowLeft: () => pan(-0.15), a: () => pan(-0.15), ArrowRight: () => pan(0.15), d: () => pan(0.15), ArrowUp: () => move(-1), ArrowDown: () => move(1), PageUp: () => move(-10), PageDown: () => move(10),
      Enter: () => toggle(rows[s.row].node), ' ': () => toggle(rows[s.row].node), 0: () => view(0, end), f: () => view(0, end), Home: () => view(0, end),
      n: () => go(s.step + 1), p: () => go(s.step < 0 ? steps.length - 1 : s.step - 1), '.': () => along(1), ',': () => along(-1),
    }[ev.key];
    if (does) { ev.preventDefault(); act(does)(); }
  });
  let held = false;
  const jump = ev => { const t = (ev.offsetX - gutter) / (overview.clientWidth - gutter) * end, w = s.to - s.from; view(t - w / 2, t + w / 2); };
  overview.addEventListener('pointerdown', ev => { held = true; overview.setPointerCapture(ev.pointerId); jump(ev); });
  overview.addEventListener('pointermove', ev => { if (held) jump(ev); });
  overview.addEventListener('pointerup', () => { held = false; });

  const all = open => { s.open.clear(); if (open) for (const n of tree) s.open.add(n.key); refresh(); };
  const bar = el('div', { class: 'toolbar screen', role: 'toolbar', 'aria-label': T('swimlane') },
    button('+', 'zoom in', act(() => zoom(0.6)), { 'data-act': 'in' }), button('−', 'zoom out', act(() => zoom(1 / 0.6)), { 'data-act': 'out' }), button('◀', 'to the left', act(() => pan(-0.3))), button('▶', 'to the right', act(() => pan(0.3))),
    button(T('whole run'), 'whole run', act(() => view(0, end)), { 'data-act': 'fit' }),
    button('⇤ ' + T('path'), 'step of the critical path before', act(() => go(s.step < 0 ? steps.length - 1 : s.step - 1))), button(T('path') + ' ⇥', 'next step of the critical path', act(() => go(s.step + 1)), { 'data-act': 'next' }),
    button(T('open ranks'), 'open all ranks', act(() => all(true))), button(T('close ranks'), 'close all ranks', act(() => all(false))),
    el('label', { class: 'field' }, el('input', { type: 'checkbox', checked: true, onchange: ev => { s.path = ev.target.checked; draw.redraw(); } }), el('span', {}, T('mark the critical path'))));
  const few = rowsOf(tree, new Set(tree.flatMap(n => [n.key, ...n.children.map(c => c.key)]))).total + rulerH + pathH + 6; // all rows open
  return el('div', { style: few < 500 ? `--lanes:${Math.max(110, few)}px` : null }, bar, overview, scroller, about, status,
    el('p', { class: 'note screen', id: 'keys' }, T('Click the chart, then: wheel or + − zoom, drag or ← → pan, ↑ ↓ rows, Enter opens, n p follow the critical path, , . go from span to span, 0 shows all. Ctrl + wheel zooms without a click.')),
    line.note && el('p', { class: 'warn' }, T('The swimlane is cut') + ': ' + line.note),
    el('p', { class: 'note' }, grouped(line.kept) + ' ' + T('spans and values; the critical path is marked in') + ' ', el('i', { class: 'dot', style: 'background:var(--path)' }), r.path && r.path.steps_omitted ? ' ' + T('The path lists its last steps only; earlier ones:') + ' ' + grouped(r.path.steps_omitted) : ''));
}
