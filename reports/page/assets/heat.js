// heat.js: matrices from rank to rank as maps of heat.
'use strict';

// heat draws rows[from][to] (null: no cell). show(v) is the text, full the greatest value.
function heat(id, rows, full, show, captions) {
  const n = rows.length, text = n <= 16;
  const fill = v => `background:color-mix(in oklab, var(--heat) ${Math.round(4 + 92 * v / (full || 1))}%, var(--card));color:${v / (full || 1) > 0.55 ? 'var(--heat-ink)' : 'var(--ink)'}`;
  const cell = (v, i, j) => {
    if (v === null || v === undefined) return el('td', { class: 'none', 'aria-label': '-' });
    return hinted(el('td', { style: fill(v), 'data-from': i, 'data-to': j, tabindex: text ? 0 : undefined }, text ? show(v, true) : ''), () => [T(captions.from) + ' ' + i + ' → ' + T(captions.to) + ' ' + j, show(v, false), percent(v, full) + ' ' + T(captions.of)]);
  };
  const head = el('tr', {}, el('th', { scope: 'col', class: 'corner' }, T(captions.from) + ' \\ ' + T(captions.to)), rows[0].map((_, j) => el('th', { scope: 'col' }, text || j % 8 === 0 ? j : '')));
  return el('div', { class: 'scroll' }, el('table', { class: 'heat' + (text ? '' : ' small'), 'data-heat': id, 'aria-label': T(captions.title) }, el('thead', {}, head),
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
  if (res.traffic) return { rows: res.traffic.map(x => x.slice()), unit: res.unit };
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
  return any ? { rows, unit: 'B' } : null;
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

// usage is a table of resources by kind and rank: how busy each is.
function usage(r) {
  const kinds = new Map(), whole = wholeRun(r);
  for (const x of r.resources || []) {
    if (x.rank < 0) continue;
    if (!kinds.has(x.name)) kinds.set(x.name, new Map());
    const k = kinds.get(x.name), o = k.get(x.rank) || { busy: 0, bytes: 0, n: 0, most: 0, peer: -1 };
    o.busy += x.busy_ps; o.bytes += x.bytes; o.n++;
    if (x.busy_ps > o.most) { o.most = x.busy_ps; o.peer = x.peer; }
    k.set(x.rank, o);
  }
  if (!kinds.size || r.ranks.length > heatLimit) return null;
  const ranks = r.ranks.map((_, i) => i), text = ranks.length <= 16;
  return el('div', { class: 'scroll' }, el('table', { class: 'heat' + (text ? '' : ' small'), 'data-heat': 'usage', 'aria-label': T('how busy each resource is') },
    el('thead', {}, el('tr', {}, el('th', { class: 'corner', scope: 'col' }, T('resource') + ' \\ ' + T('rank')), ranks.map(k => el('th', { scope: 'col' }, text || k % 8 === 0 ? k : '')))),
    el('tbody', {}, [...kinds].map(([name, k]) => el('tr', {}, el('th', { scope: 'row' }, name), ranks.map(i => {
      const o = k.get(i);
      if (!o) return el('td', { class: 'none' });
      const f = Math.min(1, o.most / whole);
      return hinted(el('td', { tabindex: text ? 0 : undefined, style: `background:color-mix(in oklab, var(--heat) ${Math.round(4 + 92 * f)}%, var(--card));color:${f > 0.55 ? 'var(--heat-ink)' : 'var(--ink)'}` }, text ? Math.round(100 * f) + ' %' : ''),
        () => [name + ', ' + T('rank') + ' ' + i, T('busiest') + (o.peer >= 0 ? ' (→ ' + o.peer + ')' : '') + ': ' + percent(o.most, whole), o.n > 1 && T('mean of') + ' ' + o.n + ': ' + percent(o.busy / o.n, whole), bytes(o.bytes)]);
    }))))));
}
