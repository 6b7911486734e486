// unpack.js: the timeline of a run, as page/timeline.go packs it, into typed arrays with a
// pyramid over each track: level k sums up 8^k spans, so that what is narrower than a
// pixel is drawn as one mark, whatever the number of spans.
'use strict';

const fan = 8;

async function inflate(text) {
  const raw = Uint8Array.from(atob(text), c => c.charCodeAt(0));
  const out = new Blob([raw]).stream().pipeThrough(new DecompressionStream('gzip'));
  return new Uint8Array(await new Response(out).arrayBuffer());
}

// reader reads signed numbers in groups of seven bits; doubles hold them exactly up to 2^53.
function reader(data) {
  let at = 0;
  return () => {
    let v = 0, f = 1, b;
    do { b = data[at++]; v += (b & 127) * f; f *= 128; } while (b & 128);
    return v % 2 ? -(v + 1) / 2 : v / 2;
  };
}

async function unpack(line) {
  const next = reader(await inflate(line.data));
  const tracks = line.tracks.map(t => {
    const n = t.n, x = { ...t, begin: new Float64Array(n) };
    let at = 0;
    if (t.counter) {
      x.value = new Float64Array(n);
      for (let i = 0; i < n; i++) { at += next(); x.begin[i] = at; x.value[i] = next(); }
      x.top = x.value.reduce((a, b) => Math.max(a, b), 0);
    } else {
      x.end = new Float64Array(n); x.detail = new Int32Array(n); x.bytes = new Float64Array(n);
      if (t.kind === 'queue') x.seq = new Float64Array(n);
      let seq = 0;
      for (let i = 0; i < n; i++) {
        at += next(); x.begin[i] = at; at += next(); x.end[i] = at;
        x.detail[i] = next(); x.bytes[i] = next();
        if (x.seq) x.seq[i] = seq += next();
      }
    }
    return x;
  });
  return { tracks, words: line.words, details: line.details, stops: line.stops || [], note: line.note, kept: line.kept };
}

// pyramid builds the levels of a track when it is first drawn. Of spans each node knows its
// busy time and the detail that takes most of it; of values, the greatest and the last.
function pyramid(x) {
  if (x.levels) return x.levels;
  const levels = [];
  let n = x.n;
  let below = x.counter ? { top: x.value, last: x.value } : { busy: Float64Array.from(x.end, (e, i) => e - x.begin[i]), main: x.detail };
  while (n > fan) {
    const m = Math.ceil(n / fan), here = x.counter ? { top: new Float64Array(m), last: new Float64Array(m) } : { busy: new Float64Array(m), main: new Int32Array(m) };
    for (let i = 0; i < m; i++) {
      const from = i * fan, to = Math.min(n, from + fan);
      if (x.counter) {
        let top = 0;
        for (let j = from; j < to; j++) top = Math.max(top, below.top[j]);
        here.top[i] = top; here.last[i] = below.last[to - 1];
        continue;
      }
      let busy = 0, most = -1, main = 0;
      for (let j = from; j < to; j++) { busy += below.busy[j]; if (below.busy[j] > most) { most = below.busy[j]; main = below.main[j]; } }
      here.busy[i] = busy; here.main[i] = main;
    }
    levels.push(here);
    below = here; n = m;
  }
  return x.levels = levels;
}

// visit walks what of a span track is within [from, to): whole(i) for each span that is at
// least grain long, merged(begin, end, busy, detail) for what is shorter together.
function visit(x, from, to, grain, whole, merged) {
  const levels = pyramid(x);
  let marks = 0;
  const walk = (level, i) => { // level -1: spans
    const first = level < 0 ? i : i * fan ** (level + 1), last = level < 0 ? i : Math.min(x.n, first + fan ** (level + 1)) - 1;
    const b = x.begin[first], e = x.end[last];
    if (e <= from || b >= to) return;
    if (level < 0) { marks++; if (e - b >= grain) whole(i); else merged(b, e, e - b, x.detail[i]); return; }
    if (e - b < grain) { marks++; merged(b, e, levels[level].busy[i], levels[level].main[i]); return; }
    const n = level === 0 ? x.n : levels[level - 1].busy.length;
    for (let j = i * fan; j < Math.min(n, (i + 1) * fan); j++) walk(level - 1, j);
  };
  const top = levels.length - 1, n = top < 0 ? x.n : levels[top].busy.length;
  for (let i = 0; i < n; i++) walk(top, i);
  return marks;
}

// visitValues walks the values of a counter like visit: step(begin, end, value), where value
// is the greatest of what is merged.
function visitValues(x, from, to, grain, step) {
  const levels = pyramid(x), endOf = i => i + 1 < x.n ? x.begin[i + 1] : to;
  const walk = (level, i) => {
    const first = level < 0 ? i : i * fan ** (level + 1), last = level < 0 ? i : Math.min(x.n, first + fan ** (level + 1)) - 1;
    const b = x.begin[first], e = endOf(last);
    if (e <= from || b >= to) return;
    if (level < 0) { step(b, e, x.value[i]); return; }
    if (e - b < grain) { step(b, e, levels[level].top[i]); return; }
    const n = level === 0 ? x.n : levels[level - 1].top.length;
    for (let j = i * fan; j < Math.min(n, (i + 1) * fan); j++) walk(level - 1, j);
  };
  const top = levels.length - 1, n = top < 0 ? x.n : levels[top].top.length;
  for (let i = 0; i < n; i++) walk(top, i);
}

// at returns the span of a track at a time, or the value that holds; -1 when there is none.
function at(x, t) {
  let lo = 0, hi = x.n;
  while (lo < hi) { const mid = (lo + hi) >> 1; if (x.begin[mid] <= t) lo = mid + 1; else hi = mid; }
  const i = lo - 1;
  return i >= 0 && (x.counter || x.end[i] > t) ? i : -1;
}
