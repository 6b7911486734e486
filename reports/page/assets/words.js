// words.js: the page's words in Chinese. English texts are the keys; what has no entry stays
// English, such as names of parameters and terms of the hardware.
'use strict';

// What blocks spend time on, where no path says it better.
const reasonWords = {
  launch: 'kernel launch and sync-start', scalar: 'scalar code: coalescing, loop control, an API\'s software', index_check: 'loading and checking index', count_read: 'uncached reads and writes of counts',
  simt_build: 'SIMT lanes write SQEs', doorbell: 'the block\'s part of a doorbell', signal_issue: 'entering a SIMT region for signals, issuing notifies', signal_wait: 'a signal cell is below what is expected',
  poll_overshoot: 'what was waited for is there, but no poll has seen it yet', mte2: 'issuing or waiting for loads', mte3: 'waiting for stores', stage_wait: 'the stage to be reused still holds an old store',
  cqe_wait: 'waiting for and draining CQEs', remote_wait: 'waiting for a synchronous remote store to drain', fence: 'fence', pipe_barrier: 'PIPE_ALL', vector: 'vector unit', compute: 'a compute item',
  dependency_wait: 'tasks that must end first, or AIVs that are taken', idle: 'before the rank starts or after the block has ended', between_calls: 'time that no timed call covers',
  egress: 'the sender\'s cap or port carries this flow', egress_queue: 'the sender\'s cap or port carries other flows', ingress: 'the receiver\'s cap or port carries this flow', ingress_queue: 'the receiver\'s cap or port carries other flows',
  wire: 'latency of links and switches', wqe_fetch: 'the NIC reads an SQE', fetch: 'the NIC reads an SQE', gather: 'first byte of the rows of an SQE', land: 'the bytes land at the receiver', ack: 'the acknowledgement on its way back', cqe: 'the CQE becomes visible',
};

const zh = {
  // the page
  'to the content': '跳到内容', 'light or dark': '浅色/深色', language: '语言', results: '结果', run: '一次运行', sweep: '扫描', explanation: '解释', validation: '与实测对照', calibration: '标定', diff: '比较', 'Rows that differ, B against A': '有差别的行，B 相对 A', 'Side by side': '并列比较', result: '结果', file: '文件', status: '状态', 'of the first': '相对第一个',
  ok: '正常', not_possible: '不可行', hazard: '竞态', deadlock: '死锁', aborted: '中止', wrong_data: '数据错误', for: '对于', more: '条', 'in all': '共计', 'waits for': '等待', where: '位置', Resources: '共享资源', port: '端口',
  'own MTE2': '自己的 MTE2', 'own MTE3': '自己的 MTE3', 'own pipes': '自己的流水线', 'own VECTOR': '自己的 VECTOR', 'tasks before, or AIVs that are taken': '前置任务，或被占用的 AIV', 'a sector of signal cells': '信号扇区', 'the two alternate: sums, the wait first': '两者交替：此处为总和，等待在前',
  'For whom blocks wait': '各 block 在等谁', 'The time that the blocks of a rank wait for each rank: for its notify, for what a queue sends there, for a store to land there; the sum of its blocks, us.': '每个 rank 的 block 等待各 rank 的时间：等它的 notify、等队列发往那里的数据、等写到那里的数据落地；为其所有 block 之和，us。', 'Most is for rank': '等待最多的是 rank', 'for no other rank, but a sector of signal cells or memory': '不是等其他 rank，而是等信号扇区或内存',
  'Every shared part: what it carried, how long it was busy, blocked (it had to carry, but what it needs was held elsewhere) and idle; the three make up the run': '每个共享部件：传输量，忙、受阻（需要传输，但所需资源被他者占用）与闲的时间；三者之和为整个运行', 'blocked us': '受阻 us', 'blocked by': '受阻于', others: '他者', 'The busiest first; headings sort.': '最忙者在前；点击表头排序。', 'busy us': '忙 us', 'busy %': '忙 %', 'idle us': '闲 us', 'carried B': '传输 B', 'mean GB/s': '平均 GB/s', 'rate GB/s': '速率 GB/s', 'carried / the run': '传输量 / 整个运行', 'what it can carry': '可传输的速率',
  'Only what ports between two ranks carry is told apart': '只能区分两 rank 间端口所传输的部分', 'The rest passes ports that peers share; run the workload with pldperf report to see it all.': '其余经过多个对端共享的端口；用 pldperf report 运行工作负载可看到全部。', 'Link use: how long each outgoing port is busy': '链路使用：各出端口忙的时间', 'Link use: how long each incoming port is busy': '链路使用：各入端口忙的时间',
  'Diagnosis: a row of the symptom table': '诊断：症状表中的一行', 'Who waits for what': '谁在等什么', 'Hazards: what another timing of the same program does otherwise': '竞态：同一程序在其他时序下会有不同结果', Symptom: '症状', Cause: '原因', Fix: '修正', 'In this run': '本次运行中', row: '行', kind: '类型', first: '先', second: '后', missing: '缺少', 'since us': '自 us', cell: '单元', expected: '期望', 'should come from': '应来自', 'what, and the two accesses that nothing orders': '内容，以及没有先后约束的两次访问',
  filter: '筛选', 'show all': '全部显示', show: '显示', all: '全部', yes: '是', no: '否', 'n/a': '无', sum: '合计', point: '点', points: '点', Points: '数据点', Charts: '图表', 'more in the tables': '条见表格', band: '区间', 'band, us': '区间, us',
  // tiles
  elapsed: '耗时', 'elapsed time': '耗时', reached: '达到下界', 'fullest send queue': '最满的发送队列', 'slowest rank': '最慢的 rank', quickest: '最快', 'wire rate': '线路速率', rank: 'rank', ranks: '个 rank', of: '/', 'bound by': '受限于', 'of the lower bound': '相对理论下界', 'lower bound': '理论下界',
  'remote bytes of the busiest rank / elapsed': '最忙 rank 的远端字节 / 耗时', 'mean bytes a rank gives to all, itself included / elapsed': '每个 rank 给所有 rank（含自己）的平均字节 / 耗时', 'mean remote bytes that a rank sends / elapsed': '每个 rank 发送的平均远端字节 / 耗时', 'draws of the uncertain parameters': '次不确定参数抽样',
  // causes
  'What the elapsed time was spent on': '时间花在哪里', 'Back from the last block\'s end, each event had to wait for the one before it; what they waited for adds up to the elapsed time.': '从最后一个 block 结束往回看，每个事件都必须等待前一个事件；这些等待之和恰好等于耗时。',
  'The critical path was not recorded: run again with --path=on.': '没有记录关键路径：请加 --path=on 再运行。', 'time by cause': '按原因划分的时间', cause: '原因', 'what it is': '含义', 'exactly the elapsed time': '恰好等于耗时', 'differs from the elapsed time by': '与耗时相差', 'part of the machine': '机器部件', times: '次', 'in the mean of its blocks': '（各 block 平均）',
  core: '核', simt: 'SIMT', mte: 'MTE', memory: '内存', signals: '信号', urma: 'URMA', fabric: '互连', launch: '启动', other: '其他',
  'a part of the model that does not say': '模型未说明的部分', 'the rank has not begun yet': '该 rank 尚未开始', 'kernel launch and sync-start': 'kernel 启动与同步起跑', 'the task scheduler learns of a signal or of a task\'s end': '任务调度器得知信号或任务结束', 'a compute item': '计算项',
  'scalar code: coalescing, loop control, an API\'s software': '标量代码：合并、循环控制、API 软件开销', 'loading and checking index': '读取并检查 index', 'uncached reads and writes of counts': '对 counts 的非缓存读写', 'SIMT lanes write SQEs': 'SIMT 通道写 SQE', 'the block\'s part of a doorbell': 'block 敲 doorbell 的部分',
  'entering a SIMT region for signals, issuing notifies': '进入 SIMT 区发信号（notify）', 'what was waited for is there, but no poll has seen it yet': '等待的内容已到，但轮询尚未看到', 'reading a CQE': '读取 CQE', fence: 'fence 栅栏', PIPE_ALL: 'PIPE_ALL 流水栅栏', 'vector unit': '向量单元', 'a load\'s own time in MTE2': 'MTE2 装载自身的时间', 'a store\'s own time in MTE3': 'MTE3 写出自身的时间',
  'the endpoint\'s part of a remote access': '远端访问中端点的部分', 'the rate of remote MTE between two ranks': '两个 rank 间远端 MTE 的速率', 'remote MTE between two ranks is busy with other AIVs': '两个 rank 间的远端 MTE 正为其他 AIV 服务', 'HBM or L2 is busy with others, or slower than who asks': 'HBM 或 L2 忙于他者，或慢于请求者', 'first byte of a load': '装载的首字节延迟', 'a notify on its way': 'notify 在途', 'a sector of signal cells serves atomics one by one': '信号扇区逐个处理原子操作',
  'a doorbell on its way to the NIC': 'doorbell 到 NIC 的途中', 'the NIC reads an SQE': 'NIC 读取 SQE', 'the NIC\'s engine is busy with SQEs of other queues': 'NIC 引擎忙于其他队列的 SQE', 'the NIC\'s engine works on the SQE': 'NIC 引擎处理该 SQE', 'first byte of the rows of an SQE': 'SQE 各行的首字节', 'the queue\'s SQE before this one': '队列中前一个 SQE', 'least time between two SQEs of a queue': '同一队列两个 SQE 的最小间隔', 'the acknowledgement on its way back': '确认返回途中', 'the CQE becomes visible': 'CQE 变为可见', 'a transport timeout': '传输超时',
  'start of an SDMA transfer': 'SDMA 传输启动', 'the rate of an SDMA channel': 'SDMA 通道速率', 'an SDMA channel is busy with SQEs before this one': 'SDMA 通道忙于之前的 SQE', 'latency of links and switches': '链路与交换机延迟', 'the sender\'s cap or port carries this flow': '发送端上限或端口正传输此流', 'the sender\'s cap or port carries other flows': '发送端上限或端口正传输其他流', 'the link between groups carries this flow': '组间链路正传输此流', 'the link between groups carries other flows': '组间链路正传输其他流', 'the receiver\'s cap or port carries this flow': '接收端上限或端口正传输此流', 'the receiver\'s cap or port carries other flows': '接收端上限或端口正传输其他流',
  'a signal cell is below what is expected': '信号单元低于期望值', 'issuing or waiting for loads': '发出或等待装载', 'waiting for stores': '等待写出', 'the stage to be reused still holds an old store': '要复用的 stage 仍被旧的写出占用', 'waiting for and draining CQEs': '等待并取走 CQE', 'waiting for a synchronous remote store to drain': '等待同步远端写完成', 'tasks that must end first, or AIVs that are taken': '等待前置任务，或 AIV 被占用', 'before the rank starts or after the block has ended': 'rank 开始之前或 block 结束之后', 'time that no timed call covers': '没有计时调用覆盖的时间', 'the bytes land at the receiver': '字节到达接收端',
  // swimlane
  Swimlane: '泳道图', swimlane: '泳道图', 'simulated time': '模拟时间', 'critical path': '关键路径', 'whole run': '整个运行', 'not recorded': '未记录', 'zoom in': '放大', 'zoom out': '缩小', 'to the left': '向左', 'to the right': '向右', path: '路径', 'step of the critical path before': '关键路径的上一步', 'next step of the critical path': '关键路径的下一步', 'open ranks': '展开 rank', 'close ranks': '收起 rank', 'open all ranks': '展开所有 rank', 'close all ranks': '收起所有 rank', 'mark the critical path': '标出关键路径',
  'Click the chart, then: wheel or + − zoom, drag or ← → pan, ↑ ↓ rows, Enter opens, n p follow the critical path, , . go from span to span, 0 shows all. Ctrl + wheel zooms without a click.': '先点一下图：滚轮或 + − 缩放，拖动或 ← → 平移，↑ ↓ 换行，Enter 展开，n p 沿关键路径前进后退，, . 逐段移动，0 显示全部。不点击时可用 Ctrl + 滚轮缩放。',
  'The swimlane is cut': '泳道图被截断', 'spans and values; the critical path is marked in': '个时间段与数值；关键路径的颜色为', 'The path lists its last steps only; earlier ones:': '路径只列出最后的步骤；更早的有：', 'unpacking ...': '正在解包……', ports: '端口', rates: '速率', block: 'block', op: 'op', phase: '阶段', peer: '对端', from: '从', to: '到', most: '最大', 'nothing here': '此处无内容', 'click to open or close': '点击展开或收起', 'others held it for': '被他者占用', 'the last': '最后一个', step: '步骤',
  'A result file holds no timeline. To see what every part does over time, let the report run the workload:': '结果文件不含时间线。要看每个部件随时间的活动，请让 report 运行该工作负载：', 'Below is the critical path: where the time went, by rank.': '下面是关键路径：按 rank 显示时间的去向。', 'Run the workload with pldperf report to see this over time.': '用 pldperf report 运行工作负载即可看到随时间的变化。',
  // accounts, heat, queues, ranks
  'What blocks spend their time on': '各 block 的时间账', 'A bar a rank: the mean of its blocks, each of which has one reason at every instant. Choose a rank to see its blocks.': '每个 rank 一条：其各 block 的平均；每个 block 在任一时刻只有一个原因。选择一个 rank 可看到它的各 block。', 'all ranks': '所有 rank',
  'Traffic and link use': '流量与链路使用', 'Traffic from rank to rank': 'rank 间流量', bytes: '字节', rows: '行', 'of the greatest': '（相对最大值）', 'Busiest sender': '最忙的发送者', 'busiest receiver': '最忙的接收者', 'the mean': '平均', 'Link use': '链路使用', 'Link use: how long each port is busy': '链路使用：各端口忙的时间', 'of the run': '（相对整个运行）', 'How busy each kind of resource is, by rank: the busiest of its kind': '各类资源的忙碌程度（每个 rank 取最忙者）', resource: '资源', busiest: '最忙', 'mean of': '平均，共', 'The machine has no ports whose traffic is told apart.': '该机器没有可区分流量的端口。', 'Maps are drawn up to': '热图最多画', 'how busy each resource is': '各资源的忙碌程度',
  'WQEBBs in the send queues over time': '发送队列中的 WQEBB 随时间变化', 'depth of a send queue': '发送队列深度', 'the fullest queue of a rank': '每个 rank 最满的队列', 'all queues of a rank': '每个 rank 的所有队列', 'The fullest queue of each rank.': '每个 rank 最满的队列。', 'Sum of the peaks of all queues of a rank.': '每个 rank 所有队列峰值之和。', Peak: '峰值', 'of the depth': '（相对深度）', 'with the depth of a queue': '显示队列深度', 'The first 64 ranks.': '仅前 64 个 rank。', Ranks: '各 rank', 'start us': '开始 us', 'barrier exit us': '离开 barrier us', 'sent B': '发送 B', 'received B': '接收 B', 'self B': '本地 B', polls: '轮询', pieces: '片', doorbells: 'doorbell', notifies: 'notify', 'SQ peak': 'SQ 峰值',
  // explanation
  'What each part costs: the run with that part ideal': '每个部件的代价：把该部件设为理想后的运行', 'How the time follows each parameter, per cent per per cent': '时间对各参数的敏感度（百分比/百分比）', 'Time against core_num': '耗时与 core_num', 'Changes of the parts of the time, B - A': '各部分时间的变化，B - A',
  // sweep
  'Headings sort; ↑ ↓ move; a row and its points in the charts are marked together.': '点击表头排序；↑ ↓ 移动；表中的行与图中的点相互标记。', 'Choose a row or a point: what its time was spent on is shown here.': '选择一行或一点：这里显示它的时间花在哪里。', 'message size': '消息大小', logarithmic: '对数', colour: '颜色', roof: '上限', 'band of the parameters': '参数区间', recommended: '推荐值', 'limited by': '受限于', 'bound, us': '下界, us', 'reached %': '达到下界 %', 'reached of the bound': '达到下界', 'outside what was measured': '超出实测范围', outside: '超出实测', digest: '摘要',
  // origins
  'Where the numbers come from': '数字的来源', Inputs: '输入', 'How well the parameters are known': '参数的可信程度', documented: '有文档', fitted: '拟合', assumed: '假定', 'set by the user': '用户设定', 'stated by the workload': '工作负载文件给出', default: '默认', 'Assumed parameters that mattered': '对本次结果有影响的假定参数', 'Every value of the configuration': '全部配置值', 'with a range': '个有取值范围', value: '值', low: '低', high: '高', known: '可信度', source: '出处', 'stands in': '位置', read: '被读取', Notes: '说明',
  'events; digest of events': '个事件；事件摘要', 'of the result': '结果摘要', '1 GB = 10^9 B, 1 GiB = 2^30 B; 1 us = 10^6 ps; all times are simulated.': '1 GB = 10^9 B，1 GiB = 2^30 B；1 us = 10^6 ps；所有时间均为模拟时间。', 'Written by pldperf': '由 pldperf 生成：',
  'Accuracy: the shipped machines against published measurements': '准确度：随附机器与公开实测的对照', measurement: '实测', 'fitted: median / greatest error, %': '拟合：误差中位数 / 最大值, %', 'held out: median / greatest error, %': '保留：误差中位数 / 最大值, %', 'error: simulated / measured - 1, without its sign. Nothing is claimed outside these data; pldperf validate prints every row.': '误差：模拟 / 实测 - 1，取绝对值。对这些数据之外不作任何声明；pldperf validate 可打印每一行。', measured: '实测', simulated: '模拟', 'held out': '保留（未参与拟合）',
  'The tables in full': '全部表格', 'as text and markdown show them': '与文本和 markdown 输出相同',
  workload: '工作负载', machine: '机器', call: '调用', routing: '路由', skew: '起始偏移', 'payload kept as': '载荷保存为', 'hazards checked': '竞态检查', 'start skew': '起始偏移',
  // headings of the tables
  Results: '结果', 'Times over the ranks, us': '各 rank 的时间, us', 'Lower bound by resource': '各资源的下界', 'What the elapsed time was spent on, us': '时间花在哪里, us', 'Time by reason, us': '按原因划分的时间, us', input: '输入', figure: '指标', unit: '单位', definition: '定义', part: '部件', time: '时间', reason: '原因', counter: '计数', Calls: '调用', Counters: '计数', Resources: '资源', 'slowest block': '最慢 block', 'least rank': '最小 rank', 'mean rank': '平均 rank', 'most rank': '最大 rank', least: '最小', mean: '平均', 'what it counts': '计入内容', 'Bounds and slack': '下界与余量', 'Longest steps of the path, in order': '路径中最长的步骤（按顺序）', where: '位置', while: '期间',
};

function T(text) { return language === 'zh' && Object.hasOwn(zh, text) ? zh[text] : text; }

// list translates "a 1 %, b 2 % and c 3 %".
const list = text => text.split(/, | and /).map(x => x.replace(/^([a-z ]+?)(?= |$)/, w => T(w))).join('、');

const portWords = text => text.replace(/ (outgoing |incoming |)ports?$/, (m, k) => ({ 'outgoing ': ' 个出端口', 'incoming ': ' 个入端口' }[k] || ' 个端口'));

// adviceEnd is what may follow a recommendation: AIVs left, and how it does across a band.
const adviceEnd = text => (text || '')
  .replace(/; it leaves ([\d,]+) more AIVs? a rank for compute/, '；为计算在每个 rank 多留 $1 个 AIV')
  .replace(/; across the band (\S.*?) wins in (\d+) of (\d+) draws/, '；在参数区间内，$1 在 $3 次抽样中胜出 $2 次').replace(/, (\S+) in (\d+)(?=,|:|$)/g, '，$1 胜出 $2 次')
  .replace(/: UNSTABLE, but never more than ([\d.]+) % behind the best of a draw/, '：不稳定，但从不比一次抽样的最佳值慢超过 $1 %').replace(/: UNSTABLE: it is up to ([\d.]+) % behind the best of a draw/, '：不稳定：最多比一次抽样的最佳值慢 $1 %');

// Sentences that Go writes, and what they are in Chinese.
const zhSentences = [
  [/^take (\S+) (.+?): ([\d.,]+\*?) us, the best(;.*)?$/, m => `取 ${m[1]} = ${m[2]}：${m[3]} us，最佳` + adviceEnd(m[4])],
  [/^take (\S+) (.+?): ([\d.,]+\*?) us, ([\d.]+) % behind the best \((\S+) (.+?), ([\d.,]+\*?) us\) and so within ([\d.]+ %)(;.*)?$/, m => `取 ${m[1]} = ${m[2]}：${m[3]} us，比最佳值（${m[6]}，${m[7]} us）慢 ${m[4]} %，在 ${m[8]} 之内` + adviceEnd(m[9])],
  [/^(\S+) hardly matters here: slowest\/quickest = ([\d.]+); take the smallest, (.+?): ([\d.,]+\*?) us(;.*)?$/, m => `${m[1]} 在此几乎无影响：最慢/最快 = ${m[2]}；取最小值 ${m[3]}：${m[4]} us` + adviceEnd(m[5])],
  [/^(\S+) (.+?) is the only run that ended ok: ([\d.,]+\*?) us(;.*)?$/, m => `只有 ${m[1]} = ${m[2]} 的运行正常结束：${m[3]} us` + adviceEnd(m[4])],
  [/^take (.+?): ([\d.,]+\*?) us, the fastest(?:; next is (.+?), ([\d.]+) % behind: ([\d.,]+\*?) us)?(; across.*)?$/, m => `取 ${m[1]}：${m[2]} us，最快` + (m[3] ? `；其次是 ${m[3]}，慢 ${m[4]} %：${m[5]} us` : '') + adviceEnd(m[6])],
  [/^no run of this group ended ok: there is nothing to recommend$/, () => '这一组没有正常结束的运行：无可推荐'],
  [/^DEADLOCK at ([\d.,]+\*?) us: ([\d,]+) blocks? can never go on; below is who waits for what$/, m => `死锁：在 ${m[1]} us，${m[2]} 个 block 永远无法继续；下面是谁在等什么`],
  [/^HAZARD: the data came out right, but by luck: ([\d,]+) hazards?\. (.+) B of payload checked as (\w+), (.+) control words? checked$/, m => `竞态：数据正确，但只是碰巧：${m[1]} 处竞态。以 ${m[3]} 方式检查了 ${m[2]} B 载荷和 ${m[4]} 个控制字`],
  [/^WRONG DATA: (.+) B and (.+) control words? wrong\. (.+) B of payload checked as (\w+), (.+) control words? checked$/, m => `数据错误：${m[1]} B 和 ${m[2]} 个控制字有误。以 ${m[4]} 方式检查了 ${m[3]} B 载荷和 ${m[5]} 个控制字`],
  [/^ABORTED at ([\d.,]+\*?) us by rank (\d+), block (\d+), in (\S+): (.+) is (.+), the limit is (.+)$/, m => `中止：在 ${m[1]} us，由 rank ${m[2]}、block ${m[3]} 的 ${m[4]} 引起：${m[5]} 为 ${m[6]}，上限为 ${m[7]}`],
  [/^The run reaches ([\d.]+) % of what (.+) allows: only less traffic or more of that makes it much faster\.$/, m => `已达到 ${m[2]} 所允许的 ${m[1]} %：只有减少流量或增加该资源才能明显更快。`],
  [/^The run reaches ([\d.]+) % of what (.+) allows, and (.+) would allow hardly more: only less traffic or more of all of these makes it much faster\.$/, m => `已达到 ${m[2]} 所允许的 ${m[1]} %，而 ${list(m[3])} 所允许的也多不了多少：只有减少流量或同时增加这些资源才能明显更快。`],
  [/^The run reaches ([\d.]+) % of its lower bound, which (.+) sets; ([\d.,]+\*?) us are lost to what follows\.$/, m => `达到理论下界（由 ${m[2]} 决定）的 ${m[1]} %；另有 ${m[3]} us 损失在下列各项。`],
  [/^No resource is near its limit: the nearest, (.+), would allow ([\d.,]+\*?) us, ([\d.]+) % of the time\. Latency and fixed costs decide\.$/, m => `没有资源接近极限：最接近的 ${m[1]} 只需 ${m[2]} us，占耗时的 ${m[3]} %。由延迟与固定开销决定。`],
  [/^Along the critical path the time goes to (.+?)\.(?: In ([\d.]+) % of it others hold what is needed\.)?$/, m => `沿关键路径，时间用于 ${list(m[1])}。` + (m[2] ? `其中 ${m[2]} % 的时间里，所需资源被他者占用。` : '')],
  [/^No single ideal part would save 5 %: the time is spread over many\.$/, () => '没有哪个部件理想化后能单独省下 5 %：时间分散在许多部件上。'],
  [/^Made ideal alone, most would be saved by (.+?)\.(?: Less than 1 % each: (.+)\.)?$/, m => `单独理想化时，省时最多的是 ${list(m[1])}。` + (m[2] ? `各不足 1 %：${list(m[2])}。` : '')],
  [/^Without any limit of a rate it would still take ([\d.,]+\*?) us, the longest chain of waits; ([-+\d.]+) % of the time is the sharing of rates\.$/, m => `即使没有任何速率限制仍需 ${m[1]} us（最长的等待链）；${m[2]} % 的时间是速率共享造成的。`],
  [/^More blocks help up to the limit of (\d+)\.$/, m => `直到上限 ${m[1]}，增加 block 都有帮助。`],
  [/^core_num beyond (\d+) does not help \(2 %\)(?:: (.+))?\.$/, m => `core_num 超过 ${m[1]} 不再有帮助（2 %）` + (m[2] ? '：' + m[2].replace(/^the (.+) of (.+) is busy ([\d.]+) % of the time$/, '$2 的 $1 忙了 $3 % 的时间').replace(/^no shared part is busy more than ([\d.]+) % of the time, and most of the path is (.+), which more blocks do not shorten$/, '没有共享部件忙碌超过 $1 % 的时间，路径的大部分是 $2，增加 block 不能缩短它') : '') + '。'],
  [/^The (.+) are idle ([\d.]+) % of the time on average, the busiest \((.+)\) ([\d.]+) %\.$/, m => `${portWords(m[1])} 平均有 ${m[2]} % 的时间空闲，最忙的（${m[3]}）空闲 ${m[4]} %。`],
  [/^The time follows most: (.+)\.$/, m => `耗时主要取决于：${m[1].replace(/, | and /g, '、')}。`],
  [/^No (single|assumed) parameter moves the time steadily by 0\.02 % or more for each per cent of its own\.$/, m => `没有${m[1] === 'assumed' ? '假定' : '单个'}参数对时间的稳定影响达到 0.02 %/%。`],
  [/^No slope, as half the change gives another one \(a step, another limit, or the phase of polls\): (.+)\.$/, m => `并非稳定的斜率（变化减半时数值不同：台阶、另一极限或轮询相位）：${m[1].replace(/, | and /g, '、')}。`],
  [/^Assumed parameters that weigh: (.+)\.$/, m => `有影响的假定参数：${m[1].replace(/, | and /g, '、')}。`],
  [/^OK: data right\. (.+) B of payload checked as (\w+), (.+) control words? checked, nothing wrong$/, m => `正确：数据无误。以 ${m[2]} 方式检查了 ${m[1]} B 载荷和 ${m[3]} 个控制字，没有错误`],
];

function inChinese(text) {
  if (language !== 'zh') return text;
  for (const [re, f] of zhSentences) { const m = re.exec(text); if (m) return f(m); }
  return text;
}

function sentences(res) { return res.sentences.map(inChinese); }
function zhVerdict(text) { return inChinese(text); }
