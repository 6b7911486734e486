// charts.js: curves, drawn by uPlot.
'use strict';

// decades are the marks of a logarithmic axis: 1, 2, 5, 10 ..., or powers of 2.
function decades(low, high, log) {
  const out = [];
  if (log === 2) for (let k = Math.ceil(Math.log2(low) - 1e-9), step = Math.max(1, Math.ceil((Math.log2(high) - k) / 10)); 2 ** k <= high; k += step) out.push(2 ** k);
  else for (let k = Math.floor(Math.log10(low)); 10 ** k <= high; k++) for (const m of high / low > 1000 ? [1] : [1, 2, 5]) if (m * 10 ** k >= low && m * 10 ** k <= high) out.push(m * 10 ** k);
  return out;
}

// gathered makes one line of those with one value.
function gathered(lines) {
  const by = new Map();
  for (const l of lines) { const o = by.get(l.value); if (o) { if (!o.label.includes(l.label)) o.label += '; ' + l.label; } else by.set(l.value, { ...l }); }
  return [...by.values()];
}

// plot puts a chart into a box of its own. o: x and y {label, log, format}, data (uPlot's:
// x, then a list for each curve), curves {label, colour, dash, width, points, step}, bands,
// lines (horizontal: {value, label}), threads (many thin curves {colour, points}), marks() -> [{x, y, kind}], near(x, y) -> hint, height.
function plot(id, o) {
  const box = el('div', { class: 'chart', 'data-chart': id, role: 'img', 'aria-label': o.title });
  const scale = a => (a.log ? { distr: 3, log: a.log } : { distr: 1 });
  const axis = (a, size) => ({
    stroke: () => css('faint'), grid: { stroke: () => css('line'), width: 1 }, ticks: { stroke: () => css('line'), width: 1 }, font: '11px system-ui, sans-serif', labelFont: '12px system-ui, sans-serif',
    label: a.label, labelSize: 18, size: a.turned ? size + 56 : size, rotate: a.turned ? 38 : 0, space: a.space || 50, values: (u, v) => v.map(x => (x === null ? '' : a.format(x))), ...(a.splits ? { splits: () => a.splits, filter: (u, v) => v } : a.log ? { splits: (u, i, low, high) => decades(low, high, a.log), filter: (u, v) => v } : {}),
  });
  let u = null;
  const range = (a, low, high) => {
    if (low === null || high === null || low === undefined) return [a.log ? 1 : 0, a.log ? 10 : 1];
    for (const l of a.lines || []) { low = Math.min(low, l); high = Math.max(high, l); }
    if (a.log) return [low / 1.25, high * 1.25];
    return a.zero ? [0, high * 1.08 || 1] : low === high ? [low - 1, high + 1] : [low - (high - low) * 0.03, high + (high - low) * 0.03];
  };
  const make = () => {
    if (!box.clientWidth) return;
    if (u) u.destroy();
    box.replaceChildren();
    u = new uPlot({
      width: box.clientWidth, height: o.height || 300, legend: { show: false }, cursor: { points: { show: false }, drag: { x: false, y: false }, x: true, y: false },
      scales: { x: { time: false, ...scale(o.x), range: (_, a, b) => range(o.x, a, b) }, y: { ...scale(o.y), range: (_, a, b) => range({ ...o.y, lines: (o.lines || []).map(l => l.value) }, a, b) } },
      axes: [axis(o.x, 44), axis(o.y, 62)],
      series: [{}, ...o.curves.map(c => ({
        label: c.label, stroke: c.colour, width: c.width === undefined ? 1.6 : c.width, dash: c.dash, spanGaps: true, points: { show: c.points !== false, size: 5, fill: c.colour },
        ...(c.step ? { paths: uPlot.paths.stepped({ align: 1 }) } : {}),
      }))],
      bands: o.bands || [],
      hooks: { draw: [paint] },
    }, o.data, box);
    u.over.addEventListener('pointermove', ev => o.near && o.near(u, ev, nearest(u, ev)));
    u.over.addEventListener('pointerleave', () => { hideHint(); o.left && o.left(); });
    u.over.addEventListener('click', ev => o.picked && o.picked(nearest(u, ev)));
  };
  const nearest = (u, ev) => {
    let best = null, far = 26 ** 2;
    for (const p of o.dots || []) {
      const dx = u.valToPos(p.x, 'x') - ev.offsetX, dy = u.valToPos(p.y, 'y') - ev.offsetY, d = dx * dx + dy * dy;
      if (d < far) { far = d; best = p; }
    }
    return best;
  };
  const paint = v => {
    const g = v.ctx, r = devicePixelRatio || 1, { left, top, width, height } = v.bbox;
    g.save();
    g.beginPath(); g.rect(left, top, width, height); g.clip();
    for (const t of o.threads || []) {
      g.strokeStyle = g.fillStyle = t.colour; g.lineWidth = 0.8 * r; g.globalAlpha = 0.75;
      g.beginPath();
      t.points.forEach(([x, y], i) => { const a = v.valToPos(x, 'x', true), b = v.valToPos(y, 'y', true); if (i && t.joined !== false) g.lineTo(a, b); else g.moveTo(a, b); g.rect(a - r, b - r, 2 * r, 2 * r); g.moveTo(a, b); });
      g.stroke();
    }
    g.globalAlpha = 1;
    const told = []; // labels, none over another
    for (const l of gathered(o.lines || [])) {
      const y = v.valToPos(l.value, 'y', true);
      if (y < top - 1 || y > top + height) continue;
      g.strokeStyle = css('roof'); g.setLineDash([6 * r, 4 * r]); g.lineWidth = 1.4 * r;
      g.beginPath(); g.moveTo(left, y); g.lineTo(left + width, y); g.stroke();
      g.fillStyle = css('roof'); g.font = 11 * r + 'px system-ui, sans-serif'; g.textAlign = 'left'; g.textBaseline = y < top + 16 * r ? 'top' : 'bottom';
      const wide = g.measureText(l.label).width, near = told.filter(q => Math.abs(q.y - y) < 14 * r), x = near.reduce((m, q) => Math.max(m, q.end + 14 * r), left + 6 * r);
      if (x + wide > left + width && near.length) continue; // no room: pointing at the line's height names it
      told.push({ y, x, end: x + wide });
      g.fillText(l.label, x, y + (y < top + 16 * r ? 3 : -2) * r);
    }
    box.dataset.labels = told.map(q => [q.x, q.end, q.y].map(Math.round).join(' ')).join(';'); // where they stand
    g.setLineDash([]);
    for (const m of o.marks ? o.marks() : []) {
      const x = v.valToPos(m.x, 'x', true), y = v.valToPos(m.y, 'y', true);
      g.strokeStyle = m.kind === 'pick' ? css('path') : css('ink'); g.lineWidth = 2 * r;
      g.beginPath(); g.arc(x, y, (m.kind === 'pick' ? 7 : 6) * r, 0, 2 * Math.PI); g.stroke();
    }
    g.restore();
  };
  box.redraw = () => u && u.redraw(false);
  box.remake = make;
  let width = 0;
  new ResizeObserver(() => { if (box.clientWidth !== width) { width = box.clientWidth; make(); } }).observe(box);
  onTheme.add(box.redraw);
  return box;
}

// occupancy shows how full the send queues are over time: the fullest queue of each rank,
// or all of a rank together.
function occupancy(res) {
  const tracks = res.line.tracks.filter(t => t.kind === 'depth');
  if (!tracks.length) return null;
  const end = wholeRun(res.run.result), bins = 600, ranks = [...new Set(tracks.map(t => t.rank))].sort((a, b) => a - b);
  const xs = Array.from({ length: bins + 1 }, (_, i) => i * end / bins / 1e6);
  // Of each queue the greatest value within a bin; of a rank the greatest, or the sum, of its queues.
  const curve = (rank, sum) => {
    const out = Array(bins + 1).fill(0);
    for (const t of tracks) {
      if (t.rank !== rank) continue;
      const here = Array(bins + 1).fill(0);
      for (let i = 0; i < t.n; i++) {
        const from = Math.floor(t.begin[i] / end * bins), to = i + 1 < t.n ? Math.floor(t.begin[i + 1] / end * bins) : bins;
        for (let b = from; b <= Math.min(to, bins); b++) here[b] = Math.max(here[b], t.value[i]);
      }
      here.forEach((v, b) => { out[b] = sum ? out[b] + v : Math.max(out[b], v); });
    }
    return out;
  };
  const shown = ranks.slice(0, 64), depth = res.run.sq_depth_wqebb;
  const box = el('div'), about = el('p', { class: 'note' });
  let sum = false, roof = false;
  const draw = () => {
    const lists = shown.map(r => curve(r, sum));
    const top = Math.max(...lists.flat());
    box.replaceChildren(plot('wqebb', {
      title: T('WQEBBs in the send queues over time'), x: { label: T('simulated time') + ', us', format: v => grouped(+v.toPrecision(6)) }, y: { label: 'WQEBB', zero: true, format: v => grouped(v) },
      data: [xs, ...lists], curves: shown.map((r, i) => ({ label: T('rank') + ' ' + r, colour: series[i % series.length], points: false, step: true, width: 1.2 })),
      lines: depth && !sum && (roof || top > depth / 3) ? [{ value: depth, label: T('depth of a send queue') + ': ' + grouped(depth) }] : [],
      near: (u, ev) => {
        const i = u.posToIdx(ev.offsetX), v = u.posToVal(ev.offsetY, 'y');
        const k = lists.map((l, j) => [Math.abs(l[i] - v), j]).sort((a, b) => a[0] - b[0])[0][1];
        showHint(ev.clientX, ev.clientY, [T('rank') + ' ' + shown[k], grouped(lists[k][i]) + ' WQEBB', '≈ ' + us(xs[i] * 1e6) + ' us', depth && !sum ? percent(lists[k][i], depth) + ' ' + T('of the depth') : null]);
      },
    }));
    about.textContent = T(sum ? 'Sum of the peaks of all queues of a rank.' : 'The fullest queue of each rank.') + ' ' + T('Peak') + ': ' + grouped(top) + ' WQEBB' + (depth && !sum ? ' (' + percent(top, depth) + ' ' + T('of') + ' ' + grouped(depth) + ')' : '') + (ranks.length > shown.length ? ' ' + T('The first 64 ranks.') : '');
  };
  draw();
  return el('div', {}, el('div', { class: 'toolbar screen' }, select(T('show'), [['max', T('the fullest queue of a rank')], ['sum', T('all queues of a rank')]], 'max', v => { sum = v === 'sum'; draw(); }),
    el('label', { class: 'field' }, el('input', { type: 'checkbox', onchange: ev => { roof = ev.target.checked; draw(); } }), el('span', {}, T('with the depth of a queue')))),
    el('div', { class: 'legend' }, shown.map((r, i) => el('span', {}, el('i', { class: 'dot', style: 'background:' + series[i % series.length] }), T('rank') + ' ' + r))), box, about);
}
