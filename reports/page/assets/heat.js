// heat.js: matrices from rank to rank as maps of heat.
'use strict';

// shade is the style of a cell: share is 0 to 1 of what is darkest.
function shade(share) { return `background:color-mix(in oklab, var(--heat) ${Math.round(4 + 92 * share)}%, var(--card));color:${share > 0.55 ? 'var(--heat-ink)' : 'var(--ink)'}`; }

// scaleNote says what the darkest colour of a map stands for.
function scaleNote(text) { return el('p', { class: 'note scale' }, '0 ', el('span', {}), ' ' + text); }

// heat draws rows[from][to] (null: no cell). show(v) is the text, full what shares are of,
// captions.darkest the value of the darkest colour; none: full.
function heat(id, rows, full, show, captions) {
  const n = rows.length, text = Math.max(n, rows[0].length) <= 16;
  const fill = v => shade(v / (captions.darkest || full || 1));
  const cell = (v, i, j) => {
    if (v === null || v === undefined) return el('td', { class: 'none', 'aria-label': '-' });
    return hinted(el('td', { style: fill(v), 'data-from': i, 'data-to': j, tabindex: text ? 0 : undefined }, text ? show(v, true) : ''), () => [T(captions.from) + ' ' + i + ' → ' + T(captions.to) + ' ' + j, show(v, false), captions.of && percent(v, full) + ' ' + T(captions.of)]);
  };
  const head = el('tr', {}, el('th', { scope: 'col', class: 'corner' }, T(captions.from) + ' \\ ' + T(captions.to)), rows[0].map((_, j) => el('th', { scope: 'col' }, text || j % 8 === 0 ? j : '')));
  return el('div', { class: 'scroll' }, el('table', { class: 'heat' + (text ? '' : ' small') + (captions.wide ? ' wide' : ''), 'data-heat': id, 'aria-label': T(captions.title) }, el('thead', {}, head),
    el('tbody', {}, rows.map((r, i) => el('tr', {}, el('th', { scope: 'row' }, text || i % 8 === 0 ? i : ''), r.map((v, j) => cell(v, i, j)))))));
}

// matrix makes an empty one.
function matrix(n) { return Array.from({ length: n }, () => Array(n).fill(null)); }

// heatLimit is the number of ranks up to which a map can be read.
const heatLimit = 72;

// trafficMap returns bytes from rank to rank: as the workload has it, or as ports and
// queues have carried it; null when nobody knows.
function trafficMap(res) {
  const r = res.run.result, n = r.ranks.length;
  if (res.traffic) return { rows: res.traffic.map((x, i) => x.map((v, j) => (i === j && !v ? null : v))), unit: res.unit };
  const rows = matrix(n);
  let any = false;
  for (const x of r.resources || []) if (x.name === 'port' && x.peer >= 0 && x.peer !== x.rank) { rows[x.rank][x.peer] = (rows[x.rank][x.peer] || 0) + x.bytes; any = true; }
  if (!any && res.line) for (const t of res.line.tracks) if (t.kind === 'queue' || t.kind === 'remote') {
    const seen = new Set();
    for (let i = 0; i < t.n; i++) {
      if (t.seq) { if (seen.has(t.seq[i])) continue; seen.add(t.seq[i]); }
      rows[t.rank][t.index] = (rows[t.rank][t.index] || 0) + t.bytes[i];
      any = true;
    }
  }
  if (!any) return null;
  // Ports between two ranks may be only some of the ways.
  const sum = rows.flat().reduce((a, v) => a + (v || 0), 0), all = r.totals ? r.totals.bytes_sent : 0, shared = (r.resources || []).some(x => x.name.startsWith('port ') && x.bytes > 0);
  return { rows, unit: 'B', lacks: shared && sum < all ? { sum, all } : null };
}

// portMap returns how long the ports are busy that a rank shares among its peers: a row a
// rank, a column a port; null without such ports.
function portMap(r, prefix) {
  const rows = [];
  for (const x of r.resources || []) {
    if (x.rank < 0 || !x.name.startsWith(prefix)) continue;
    const k = +x.name.slice(prefix.length);
    (rows[x.rank] = rows[x.rank] || [])[k] = x.busy_ps;
  }
  const n = rows.reduce((m, row) => Math.max(m, row ? row.length : 0), 0);
  return n ? Array.from({ length: r.ranks.length }, (_, i) => Array.from({ length: n }, (_, k) => (rows[i] && rows[i][k] !== undefined ? rows[i][k] : null))) : null;
}

// waitMap returns how long the blocks of each rank waited for each rank, in the sum of its
// blocks, and the same by reason; null when none did or nobody knows.
function waitMap(r) {
  const n = r.ranks.length, rows = matrix(n), reasons = new Map();
  let any = false, sector = 0;
  for (const b of r.blocks || []) for (const h of b.held || []) {
    reasons.set(h.reason, (reasons.get(h.reason) || 0) + h.time_ps);
    if (h.peer < 0) { sector += h.time_ps; continue; }
    rows[b.rank][h.peer] = (rows[b.rank][h.peer] || 0) + h.time_ps;
    any = true;
  }
  return any ? { rows, reasons, sector } : null;
}

// linkMap returns the share of the run in which ports are busy; null without ports.
function linkMap(r) {
  const n = r.ranks.length, rows = matrix(n);
  let any = false;
  for (const x of r.resources || []) if (x.name === 'port' && x.peer >= 0) { rows[x.rank][x.peer] = Math.max(rows[x.rank][x.peer] || 0, x.busy_ps); any = true; }
  return any ? rows : null;
}

// wholeRun is the time over which resources are busy: from the first call to the last.
function wholeRun(r) { return r.calls.reduce((m, c) => Math.max(m, c.end_ps), 0) || r.elapsed_ps; }

// shareText writes a share of the run in per cent: a small one with a decimal.
function shareText(v, whole) { const f = whole ? 100 * v / whole : 0; return f > 0 && f < 9.95 ? f.toFixed(1) : String(Math.round(f)); }

// usage is a table of resources by kind and rank: how busy each is.
function usage(r) {
  const kinds = new Map(), whole = wholeRun(r);
  let darkest = 1; // ps
  for (const x of r.resources || []) {
    if (x.rank < 0) continue;
    const name = x.name.replace(/ \d+$/, ''); // of a port the kind
    if (!kinds.has(name)) kinds.set(name, new Map());
    darkest = Math.max(darkest, x.busy_ps);
    const k = kinds.get(name), o = k.get(x.rank) || { busy: 0, bytes: 0, n: 0, most: 0, peer: -1 };
    o.busy += x.busy_ps; o.bytes += x.bytes; o.n++;
    if (x.busy_ps > o.most) { o.most = x.busy_ps; o.peer = x.peer; o.name = x.name; }
    k.set(x.rank, o);
  }
  if (!kinds.size || r.ranks.length > heatLimit) return null;
  const ranks = r.ranks.map((_, i) => i), text = ranks.length <= 16;
  return el('div', { class: 'scroll' }, el('table', { class: 'heat' + (text ? '' : ' small'), 'data-heat': 'usage', 'aria-label': T('how busy each resource is') },
    el('thead', {}, el('tr', {}, el('th', { class: 'corner', scope: 'col' }, T('resource') + ' \\ ' + T('rank')), ranks.map(k => el('th', { scope: 'col' }, text || k % 8 === 0 ? k : '')))),
    el('tbody', {}, [...kinds].map(([name, k]) => el('tr', {}, el('th', { scope: 'row' }, name), ranks.map(i => {
      const o = k.get(i);
      if (!o) return el('td', { class: 'none' });
      return hinted(el('td', { tabindex: text ? 0 : undefined, 'data-rank': i, 'data-kind': name, style: shade(o.most / darkest) }, text ? shareText(o.most, whole) + ' %' : ''),
        () => [(o.name || name) + ', ' + T('rank') + ' ' + i, T('busiest') + (o.peer >= 0 ? ' (→ ' + o.peer + ')' : '') + ': ' + percent(o.most, whole), o.n > 1 && T('mean of') + ' ' + o.n + ': ' + percent(o.busy / o.n, whole), bytes(o.bytes)]);
    }))))), scaleNote(percent(darkest, whole) + ' ' + T('of the run')));
}
