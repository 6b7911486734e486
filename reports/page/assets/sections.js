// sections.js: the parts of the page of a run, an explanation, a validation, a comparison.
'use strict';

function tile(name, value, unit, note, attrs) {
  return el('div', { class: 'tile', ...attrs }, el('span', { class: 'name' }, T(name)), el('span', { class: 'value' }, value, unit && el('small', {}, ' ' + unit)), note && el('span', { class: 'note' }, note));
}

function tiles(res) {
  const m = res.metrics, run = res.run, r = run.result, na = T('n/a');
  const draws = run.band && run.band.draws ? run.band.draws.filter(d => d.status === 'ok').map(d => d.elapsed_ps).sort((a, b) => a - b) : [];
  const tenth = Math.floor((draws.length - 1 + 5) / 10);
  return el('div', { class: 'tiles' },
    tile('elapsed', us(m.elapsed_ps), 'us', exactUs(m.elapsed_ps) + ' us', { 'data-elapsed': m.elapsed_ps }),
    draws.length ? tile('band', us(Math.min(draws[tenth], m.elapsed_ps)) + ' – ' + us(Math.max(draws[draws.length - 1 - tenth], m.elapsed_ps)), 'us', draws.length + ' ' + T('draws of the uncertain parameters')) : null,
    tile('busbw', m.rates_defined ? gbps(m.busbw_bytes_per_s) : na, 'GB/s', T('remote bytes of the busiest rank / elapsed')),
    tile('algbw', m.rates_defined ? gbps(m.algbw_bytes_per_s) : na, 'GB/s', T('mean bytes a rank gives to all, itself included / elapsed')),
    tile('wire rate', m.rates_defined ? gbps(m.wire_bytes_per_s) : na, 'GB/s', T('mean remote bytes that a rank sends / elapsed')),
    m.bound_ps ? tile('reached', m.rates_defined ? (m.bound_reached_millionths / 1e4).toFixed(1) : na, '%', T('of the lower bound') + ' ' + us(m.bound_ps) + ' us, ' + T('bound by') + ' ' + m.bound_by) : null,
    run.sq_depth_wqebb ? tile('fullest send queue', grouped(m.peak_sq_wqebb), 'WQEBB', percent(m.peak_sq_wqebb, run.sq_depth_wqebb) + ' ' + T('of') + ' ' + grouped(run.sq_depth_wqebb) + ', ' + T('rank') + ' ' + m.peak_sq_rank) : null,
    tile('slowest rank', us(m.rank_elapsed.max_ps), 'us', T('rank') + ' ' + m.rank_elapsed.max_rank + '; ' + T('quickest') + ' ' + us(m.rank_elapsed.min_ps) + ' us, ' + T('rank') + ' ' + m.rank_elapsed.min_rank));
}

function runSections(res) {
  const run = res.run, r = run.result, out = troubleSections(res), parts = pathParts(r);
  if (parts) out.push(section('causes', 'What the elapsed time was spent on', el('p', { class: 'note' }, T('Back from the last block\'s end, each event had to wait for the one before it; what they waited for adds up to the elapsed time.')), causeBar(parts, r.elapsed_ps, T('time by cause'))));
  else out.push(section('causes', 'What the elapsed time was spent on', el('p', { class: 'note' }, (r.path && r.path.note) || T('The critical path was not recorded: run again with --path=on.'))));
  if (res.explanation) out.push(...explanationSections(res.explanation, r));
  out.push(section('swimlane', 'Swimlane', laneBox(res, parts)));
  const acc = accounts(r);
  if (acc) out.push(section('accounts', 'What blocks spend their time on', el('p', { class: 'note' }, T('A bar a rank: the mean of its blocks, each of which has one reason at every instant. Choose a rank to see its blocks.')), acc, waitBox(r)));
  const late = el('div');
  out.push(section('heat', 'Traffic and link use', late));
  const heats = () => late.replaceChildren(heatBox(res));
  heats();
  const queues = el('div', {}, el('p', { class: 'note' }, T('Run the workload with pldperf report to see this over time.')));
  if (run.sq_depth_wqebb) out.push(section('wqebb', 'WQEBBs in the send queues over time', queues));
  const shared = resourceTable(r);
  if (shared) out.push(section('resources', 'Resources', shared));
  out.push(section('ranks', 'Ranks', rankTable(run)));
  if (res.timeline) res.ready = Promise.resolve(res.line || unpack(res.timeline)).then(line => {
    res.line = line;
    const box = document.querySelector('[data-lanes="' + res.number + '"]');
    if (box) box.replaceChildren(swimlane(res));
    heats();
    const o = occupancy(res);
    if (o) queues.replaceChildren(o);
  });
  return out;
}

function laneBox(res, parts) {
  if (res.timeline) return el('div', { 'data-lanes': res.number }, el('p', { class: 'note' }, T('unpacking ...')));
  const r = res.run.result, steps = (r.path && r.path.steps) || [];
  const how = el('p', {}, T('A result file holds no timeline. To see what every part does over time, let the report run the workload:') + ' ', el('code', {}, 'pldperf report WORKLOAD.yaml -o report.html'));
  if (!steps.length) return how;
  // Without spans, the steps of the path are a timeline of one track.
  const n = steps.length, words = [''], at = new Map([['', 0]]), word = w => { if (!at.has(w || '')) { at.set(w || '', words.length); words.push(w); } return at.get(w || ''); };
  const by = new Map();
  steps.forEach((st, i) => { const k = st.rank; if (!by.has(k)) by.set(k, []); by.get(k).push(i); });
  const details = [], tracks = [], stops = Array(n).fill(-1);
  for (const [rank, list] of [...by].sort((a, b) => a[0] - b[0])) {
    const t = { kind: 'calls', rank, index: 0, name: T('critical path'), n: list.length, begin: new Float64Array(list.length), end: new Float64Array(list.length), detail: new Int32Array(list.length), bytes: new Float64Array(list.length) };
    list.forEach((i, k) => {
      const st = steps[i];
      t.begin[k] = st.from_ps; t.end[k] = st.to_ps; t.detail[k] = details.length;
      details.push([word(st.cause), word(st.op), word(st.phase), word(st.task), st.block, -1, st.peer, 0]);
      stops[i] = tracks.length;
    });
    tracks.push(t);
  }
  res.line = null;
  return el('div', {}, how, el('p', { class: 'note' }, T('Below is the critical path: where the time went, by rank.')), swimlane({ ...res, line: { tracks, words, details, stops, kept: n } }));
}

function heatBox(res) {
  const r = res.run.result, n = r.ranks.length;
  if (n > heatLimit) return el('p', { class: 'note' }, T('Maps are drawn up to') + ' ' + heatLimit + ' ' + T('ranks') + '.');
  const out = [], traffic = trafficMap(res), links = linkMap(r);
  if (traffic) {
    const most = Math.max(...traffic.rows.flat().map(v => v || 0));
    const show = (v, brief) => (traffic.unit === 'B' ? (brief ? short(v) : bytes(v)) : (brief ? short(v) : grouped(v) + ' ' + T(traffic.unit)));
    const sums = traffic.rows.map((row, i) => row.reduce((a, v, j) => a + (j === i ? 0 : v || 0), 0)), mean = sums.reduce((a, b) => a + b, 0) / n;
    const ins = traffic.rows.map((_, j) => traffic.rows.reduce((a, row, i) => a + (j === i ? 0 : row[j] || 0), 0));
    out.push(el('figure', { class: 'figure' }, el('figcaption', {}, T('Traffic from rank to rank') + ', ' + (traffic.unit === 'B' ? T('bytes') : T(traffic.unit))),
      traffic.lacks ? el('p', { class: 'warn', 'data-lacks': true }, T('Only what ports between two ranks carry is told apart') + ': ' + bytes(traffic.lacks.sum) + ' ' + T('of') + ' ' + bytes(traffic.lacks.all) + '. ' + T('The rest passes ports that peers share; run the workload with pldperf report to see it all.')) : null, heat('traffic', traffic.rows, most, show, { title: 'Traffic from rank to rank', from: 'from', to: 'to', of: 'of the greatest' }),
      mean ? el('p', { class: 'note' }, T('Busiest sender') + ' ' + (Math.max(...sums) / mean).toFixed(3) + ' × ' + T('the mean') + ', ' + T('busiest receiver') + ' ' + (Math.max(...ins) / mean).toFixed(3) + ' ×' + (traffic.unit === 'B' ? '; ' + T('in all') + ' ' + grouped(sums.reduce((a, b) => a + b, 0)) + ' B' : '')) : null));
  }
  const whole = wholeRun(r), busy = (v, brief) => (brief ? shareText(v, whole) : us(v) + ' us, ' + percent(v, whole));
  const maps = [['links', links, 'Link use: how long each port is busy', 'from', 'to'], ['ports-out', portMap(r, 'port out '), 'Link use: how long each outgoing port is busy', 'rank', 'port'], ['ports-in', portMap(r, 'port in '), 'Link use: how long each incoming port is busy', 'rank', 'port']];
  for (const [id, m, title, from, to] of maps) if (m) {
    const darkest = Math.max(...m.flat().map(v => v || 0));
    out.push(el('figure', { class: 'figure' }, el('figcaption', {}, T(title) + ', %'), heat(id, m, whole, busy, { title, from, to, of: 'of the run', wide: to === 'port', darkest }), darkest ? scaleNote(percent(darkest, whole) + ' ' + T('of the run')) : null));
  }
  const u = usage(r);
  return el('div', {}, el('div', { class: 'two' }, out), u && el('figure', { class: 'figure' }, el('figcaption', {}, T('How busy each kind of resource is, by rank: the busiest of its kind')), u), !out.length && !u ? el('p', { class: 'note' }, T('The machine has no ports whose traffic is told apart.')) : null);
}

// short writes a number with three digits, so that cells that differ look different.
function short(v) {
  for (const [u, f] of [['G', 1e9], ['M', 1e6], ['k', 1e3]]) if (v >= f) return (v / f).toFixed(v / f < 10 ? 2 : v / f < 100 ? 1 : 0) + u;
  return String(v);
}

// waitBox shows for whom blocks wait.
function waitBox(r) {
  const m = r.ranks.length <= heatLimit && waitMap(r);
  if (!m) return null;
  const sums = m.rows.map(row => row.reduce((a, v) => a + (v || 0), 0)), by = m.rows.map((_, j) => m.rows.reduce((a, row) => a + (row[j] || 0), 0));
  const all = sums.reduce((a, b) => a + b, 0), worst = by.indexOf(Math.max(...by)), most = Math.max(...m.rows.flat().map(v => v || 0));
  return el('div', {}, el('h3', {}, T('For whom blocks wait')), el('p', { class: 'note' }, T('The time that the blocks of a rank wait for each rank: for its notify, for what a queue sends there, for a store to land there; the sum of its blocks, us.')),
    heat('waits', m.rows, most, (v, brief) => (brief ? (v < 1e9 ? +(v / 1e6).toPrecision(3) : short(Math.round(v / 1e6))) : us(v) + ' us'), { title: 'For whom blocks wait', from: 'rank', to: 'waits for', of: 'of the greatest' }),
    el('p', { class: 'note' }, [...m.reasons].sort((a, b) => b[1] - a[1]).map(([k, v]) => k + ' ' + us(v) + ' us').join(', ') + '. ' + T('Most is for rank') + ' ' + worst + ': ' + us(by[worst]) + ' us, ' + percent(by[worst], all) + (m.sector ? '; ' + T('for no other rank, but a sector of signal cells or memory') + ': ' + us(m.sector) + ' us' : '')));
}

// resourceTable lists every shared part of the machine: busy, blocked and idle make up the run.
function resourceTable(r) {
  const list = (r.resources || []).map((x, i) => ({ ...x, i })), whole = wholeRun(r);
  if (!list.length) return null;
  list.sort((a, b) => b.busy_ps - a.busy_ps || b.bytes - a.bytes || a.i - b.i);
  const held = x => x.blocked_ps || 0, idle = x => whole - x.busy_ps - held(x), blocked = list.some(held);
  const by = x => (x.held || []).slice().sort((a, b) => b.time_ps - a.time_ps), name = h => (h.peer < 0 ? T('others') : T('rank') + ' ' + h.peer);
  const who = x => { const l = by(x); return l.length ? el('span', { title: l.map(h => name(h) + ', ' + h.reason + ': ' + us(h.time_ps) + ' us').join('\n') }, l.slice(0, 2).map(h => name(h) + ' ' + percent(h.time_ps, held(x))).join(', ') + (l.length > 2 ? ', …' : '')) : ''; };
  const where = x => (x.rank < 0 ? T('fabric') : x.peer >= 0 ? x.rank + ' → ' + x.peer : T('rank') + ' ' + x.rank);
  return el('div', {}, el('p', { class: 'note' }, T('Every shared part: what it carried, how long it was busy, blocked (it had to carry, but what it needs was held elsewhere) and idle; the three make up the run') + ', ' + us(whole) + ' us. ' + T('The busiest first; headings sort.')), grid([
    { name: 'resource', cell: x => el('code', {}, x.name), key: x => x.name }, { name: 'where', cell: where }, { name: 'busy us', right: true, cell: x => us(x.busy_ps), key: x => x.busy_ps }, { name: 'busy %', right: true, cell: x => percent(x.busy_ps, whole).replace(' %', ''), key: x => x.busy_ps },
    ...(blocked ? [{ name: 'blocked us', right: true, cell: x => us(held(x)), key: held }, { name: 'blocked by', cell: who, key: x => (by(x)[0] ? name(by(x)[0]) : '') }] : []),
    { name: 'idle us', right: true, cell: x => us(idle(x)), key: idle }, { name: 'carried B', right: true, cell: x => grouped(x.bytes), key: x => x.bytes },
    { name: 'mean GB/s', right: true, title: 'carried / the run', cell: x => gbps(whole ? x.bytes / whole * 1e12 : 0), key: x => x.bytes }, { name: 'rate GB/s', right: true, title: 'what it can carry', cell: x => (x.rate_bytes_per_s ? gbps(x.rate_bytes_per_s) : ''), key: x => x.rate_bytes_per_s },
  ], list, { filter: true, limit: 16 }));
}

// troubleSections show what went wrong: diagnoses, who waits for what, hazards. They are
// the first tables of the text form.
function troubleSections(res) {
  const names = [['Diagnosis', 'diagnosis'], ['Who waits for what', 'stuck'], ['Hazards', 'hazards']];
  return (res.sheet.tables || []).flatMap(t => names.filter(([n]) => t.title.startsWith(n)).map(([, id]) => section(id, t.title, sheetTable({ ...t, title: '', rows: t.rows.map(r => r.map(T)) }))));
}

function rankTable(run) {
  const r = run.result, rows = r.ranks.map((x, i) => ({ ...x, i }));
  const timed = r.calls.filter(c => c.timed !== false), last = timed[timed.length - 1];
  const c = (name, title) => ({ name: title || name, right: true, cell: x => grouped(x.counters[name]), key: x => x.counters[name] });
  const used = name => rows.some(x => x.counters[name]);
  return grid([
    { name: 'rank', right: true, cell: x => String(x.i), key: x => x.i },
    { name: 'us', right: true, cell: x => us(x.elapsed_ps), key: x => x.elapsed_ps, title: 'from its launch to its last block\'s end' },
    ...(last && last.ranks && last.ranks.length ? [{ name: 'start us', right: true, cell: x => us(last.ranks[x.i].start_ps), key: x => last.ranks[x.i].start_ps }, { name: 'barrier exit us', right: true, cell: x => (last.ranks[x.i].barrier_exit_ps ? us(last.ranks[x.i].barrier_exit_ps) : '-'), key: x => last.ranks[x.i].barrier_exit_ps }] : []),
    ...[['bytes_sent', 'sent B'], ['bytes_received', 'received B'], ['bytes_self', 'self B'], ['sqes', 'SQEs'], ['wqebbs', 'WQEBBs'], ['doorbells'], ['cqes', 'CQEs'], ['notifies'], ['polls_attempted', 'polls'], ['pieces']].filter(([k]) => used(k)).map(([k, t]) => c(k, t)),
    ...(run.sq_depth_wqebb ? [{ name: 'SQ peak', right: true, cell: x => grouped(x.peak_sq_wqebb), key: x => x.peak_sq_wqebb }] : []),
  ], rows, { limit: 64 });
}

function explanationSections(e, r) {
  const out = [], f = x => (r.elapsed_ps ? 100 * x / r.elapsed_ps : 0);
  const twins = (e.ideal_parts || []).filter(t => !t.problem);
  if (twins.length) out.push(section('twins', 'What each part costs: the run with that part ideal', signed(twins.map(t => ({ name: t.name, value: t.saves_ps, text: us(t.saves_ps) + ' us, ' + f(t.saves_ps).toFixed(1) + ' %', lines: [T(t.what), T('elapsed') + ' ' + us(t.elapsed_ps) + ' us', ...(t.settings || [])] })))));
  const moves = (e.sensitivities || []).filter(m => !m.problem && Math.abs(m.percent_per_percent) >= 0.005);
  if (moves.length) out.push(section('moves', 'How the time follows each parameter, per cent per per cent', signed(moves.slice(0, 30).map(m => ({ name: m.path, value: m.percent_per_percent, text: (m.percent_per_percent > 0 ? '+' : '') + m.percent_per_percent.toFixed(3), lines: [m.value + ' (' + T(kindWords[m.kind] || m.kind) + ')', m.below + ' … ' + m.above] })))));
  const blocks = (e.core_num || []).filter(b => !b.problem);
  if (blocks.length > 1) out.push(section('blocks', 'Time against core_num', plot('blocks', {
    title: T('Time against core_num'), x: { label: 'core_num', format: String, splits: blocks.map(b => b.core_num) }, y: { label: T('elapsed time') + ', us', zero: true, format: v => grouped(v) },
    data: [blocks.map(b => b.core_num), blocks.map(b => b.elapsed_ps / 1e6)], curves: [{ colour: series[0], label: '' }], dots: blocks.map((b, i) => ({ x: b.core_num, y: b.elapsed_ps / 1e6, i })),
    near: (u, ev, d) => (d ? showHint(ev.clientX, ev.clientY, ['core_num ' + d.x, us(blocks[d.i].elapsed_ps) + ' us']) : hideHint()),
  })));
  return out;
}

const kindWords = { src: 'documented', fit: 'fitted', est: 'assumed', user: 'set by the user', file: 'stated by the workload', default: 'default' };

// origins shows where the numbers come from: inputs, parameters, accuracy, digests.
function origins(res, accuracy) {
  const run = res.run, p = run && run.parameters, config = (run || res.sweep || {}).config || [], out = [];
  const inputs = (run || res.sweep).inputs || [];
  out.push(el('h3', {}, T('Inputs')), el('dl', { class: 'inputs' }, inputs.flatMap(kv => [el('dt', {}, T(kv.key.trim())), el('dd', {}, kv.value)])));
  const ranged = config.filter(l => l.low || l.high), count = k => config.filter(l => l.kind === k && !l.unread).length;
  if (p) out.push(el('h3', {}, T('How well the parameters are known')), el('p', {}, [['documented', p.documented], ['fitted', p.fitted], ['assumed', p.assumed], ['set by the user', p.user]].map(([k, n]) => el('span', { class: 'badge ' + k.split(' ')[0] }, n + ' ' + T(k)))));
  const beyond = ((run && run.outside_fit) || []).map(o => o.what + (o.value ? ' ' + o.value : '') + ' (' + o.known + ')');
  const outside = [...new Set([...beyond, ...((p && p.outside_fitted_range) || [])])];
  if (outside.length) out.push(el('div', { class: 'warn' }, el('strong', {}, T('outside what was measured') + ': '), outside.join('; ')));
  if (p && p.assumed_that_mattered && p.assumed_that_mattered.length) out.push(el('h3', {}, T('Assumed parameters that mattered')), el('ul', { class: 'mattered' }, p.assumed_that_mattered.map(x => el('li', {}, el('code', {}, x)))));
  if (config.length) out.push(later({}, T('Every value of the configuration') + ' (' + config.length + '; ' + ranged.length + ' ' + T('with a range') + ')', () => grid([
    { name: 'path', cell: l => el('code', {}, l.path), key: l => l.path }, { name: 'value', cell: l => l.value }, { name: 'low', cell: l => l.low || '' }, { name: 'high', cell: l => l.high || '' },
    { name: 'known', cell: l => el('span', { class: 'badge ' + (kindWords[l.kind] || '').split(' ')[0] }, T(kindWords[l.kind] || l.kind)), key: l => kindWords[l.kind] || l.kind },
    { name: 'source', cell: l => l.source || '' }, { name: 'stands in', cell: l => (l.file ? l.file + (l.line ? ':' + l.line : '') : '') }, { name: 'read', cell: l => (l.unread ? T('no') : '') },
  ], config, { filter: true, limit: 400 })));
  if (accuracy && accuracy.length) out.push(accuracyBox(accuracy));
  const notes = [...((run && run.notes) || []), ...((run && run.result.notes) || []), ...((res.sweep && res.sweep.notes) || [])];
  if (notes.length) out.push(el('h3', {}, T('Notes')), el('ul', {}, notes.map(n => el('li', {}, n))));
  if (run) out.push(el('p', { class: 'note' }, grouped(run.result.events) + ' ' + T('events; digest of events') + ' ', el('code', {}, run.result.digests.events), ', ' + T('of the result') + ' ', el('code', {}, run.result.digests.result)));
  out.push(el('p', { class: 'note' }, T('1 GB = 10^9 B, 1 GiB = 2^30 B; 1 us = 10^6 ps; all times are simulated.') + ' ' + T('Written by pldperf') + ' ' + (res.program || '')));
  return section('origins', 'Where the numbers come from', out);
}

function accuracyBox(files) {
  const stats = rows => {
    const e = rows.map(x => Math.abs(x.error)).sort((a, b) => a - b);
    return e.length ? (100 * e[Math.floor((e.length - 1) / 2)]).toFixed(1) + ' / ' + (100 * e[e.length - 1]).toFixed(1) : '-';
  };
  return el('details', { open: true, 'data-accuracy': true }, el('summary', {}, T('Accuracy: the shipped machines against published measurements')), grid([
    { name: 'measurement', cell: f => f.title }, { name: 'rows', right: true, cell: f => String(f.rows.length) },
    { name: 'fitted: median / greatest error, %', right: true, cell: f => stats(f.rows.filter(x => !x.held_out)) }, { name: 'held out: median / greatest error, %', right: true, cell: f => stats(f.rows.filter(x => x.held_out)) },
    { name: 'file', cell: f => el('code', {}, f.file), key: f => f.file },
  ], files), el('p', { class: 'note' }, T('error: simulated / measured - 1, without its sign. Nothing is claimed outside these data; pldperf validate prints every row.')));
}

function validationSections(res) {
  return (res.validation.files || []).map((f, i) => section('file' + i, f.title, signed(f.rows.map(x => ({ name: x.case + ', ' + x.row, value: x.error, text: (x.error > 0 ? '+' : '') + (100 * x.error).toFixed(1) + ' %' + (x.inside ? '' : ' !'), lines: [T('measured') + ' ' + x.measured + ' ' + x.unit, T('simulated') + ' ' + +x.simulated.toPrecision(6) + ' ' + x.unit, T(x.held_out ? 'held out' : 'fitted'), T('band') + ' ' + (100 * x.band).toFixed(0) + ' %'] })))));
}

function diffSections(res) {
  const rows = (res.diff.rows || []).filter(r => !r.equal);
  if (rows.length) return [section('changes', 'Rows that differ, B against A', signed(rows.map(r => ({ name: r.case + ', ' + r.row, value: r.change, text: (r.change > 0 ? '+' : '') + (100 * r.change).toFixed(2) + ' %' + (r.inside_b ? '' : ' !'), lines: ['A ' + +r.simulated_a.toPrecision(6) + ' ' + r.unit, 'B ' + +r.simulated_b.toPrecision(6) + ' ' + r.unit, T('measured') + ' ' + r.measured_b + ' ' + r.unit] }))))];
  const parts = (res.diff.parts || []).filter(p => p.change_ps);
  return parts.length ? [section('changes', 'Changes of the parts of the time, B - A', signed(parts.map(p => ({ name: p.name, value: p.change_ps, text: (p.change_ps > 0 ? '+' : '') + us(p.change_ps) + ' us', lines: ['A ' + us(p.a_ps) + ' us', 'B ' + us(p.b_ps) + ' us'] }))))] : [];
}

function sheetSection(res, open) {
  const tables = res.sheet.tables || [];
  if (!tables.length) return null;
  return section('card', 'The tables in full', later({ open }, T('as text and markdown show them'), () => [tables.map(sheetTable), (res.sheet.tail || []).map(l => el('p', { class: 'note' }, l))]));
}
