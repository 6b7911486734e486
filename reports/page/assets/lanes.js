// lanes.js: the rows of the swimlane: a tree of ranks, groups (an AIV, a queue, the ports)
// and tracks, of which what is open is shown.
'use strict';

// lanesOf builds the tree. A node has key, name, tracks that its own row shows (one), and
// children. The row of a group shows the first of its tracks also when it is closed.
function lanesOf(line) {
  const ranks = new Map();
  line.tracks.forEach((t, i) => {
    const rank = ranks.get(t.rank) || { key: 'r' + t.rank, rank: t.rank, name: t.rank < 0 ? T('fabric') : T('rank') + ' ' + t.rank, groups: new Map(), children: [], track: -1, all: [] };
    ranks.set(t.rank, rank);
    rank.all.push(i);
    if (t.kind === 'calls' && rank.track < 0) { rank.track = i; return; }
    const name = t.group || ({ port: T('ports'), memory: T('memory'), rate: T('rates') })[t.kind] || t.name;
    const g = rank.groups.get(name) || { key: rank.key + '/' + name, name, kind: t.kind, index: t.index, items: [], children: [], all: [] };
    rank.groups.set(name, g);
    g.items.push(i); g.all.push(i);
  });
  const rankList = [...ranks.values()].sort((a, b) => (a.rank < 0) - (b.rank < 0) || a.rank - b.rank);
  const place = { scalar: 0, simt: 0, vector: 0, mte2: 0, mte3: 0, stages: 0, depth: 1, queue: 1, sdma: 2, remote: 3, port: 4, rate: 5, memory: 6, calls: 7 };
  const order = { scalar: 0, simt: 1, vector: 2, mte2: 3, mte3: 4, stages: 5, depth: 0, queue: 1 };
  for (const k of ['sdma', 'remote', 'port', 'rate', 'memory', 'calls']) order[k] = 6;
  for (const r of rankList) {
    r.children = [...r.groups.values()].sort((a, b) => place[a.kind] - place[b.kind] || a.index - b.index);
    for (const g of r.children) {
      g.items.sort((a, b) => order[line.tracks[a].kind] - order[line.tracks[b].kind] || (line.tracks[a].lane || 0) - (line.tracks[b].lane || 0) || a - b);
      g.kind = line.tracks[g.items[0]].kind;
      const leaf = i => ({ key: g.key + '#' + i, name: laneName(line.tracks[i]), track: i, children: [], all: [i] });
      if (g.items.length === 1) { g.track = g.items[0]; continue; }
      const headed = place[g.kind] < 2; // SCALAR, the depth of a queue
      g.track = headed ? g.items[0] : -1;
      g.children = g.items.slice(headed ? 1 : 0).map(leaf);
    }
  }
  return rankList;
}

function laneName(t) { return t.name + (t.lane ? ' ' + t.lane : '') + (t.kind === 'sdma' ? ' ' + t.index : ''); }

const heights = [22, 18, 16];

// rowsOf lists the rows that are shown, each with its place.
function rowsOf(tree, open) {
  const rows = [];
  let y = 0;
  const walk = (node, depth) => {
    const h = heights[depth];
    rows.push({ node, depth, y, h, open: open.has(node.key) });
    y += h;
    if (open.has(node.key)) for (const c of node.children) walk(c, depth + 1);
  };
  for (const n of tree) walk(n, 0);
  rows.total = y;
  return rows;
}
