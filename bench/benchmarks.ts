import type { Benchmark } from './benchmark.ts';
import { accept } from './benchmarks/accept.ts';
import { backlog } from './benchmarks/backlog.ts';
import { budgets } from './benchmarks/budgets.ts';
import { bytes } from './benchmarks/bytes.ts';
import { ceiling } from './benchmarks/ceiling.ts';
import { dashboard } from './benchmarks/dashboard.ts';
import { endToEnd } from './benchmarks/end-to-end.ts';
import { events } from './benchmarks/events.ts';
import { gateway } from './benchmarks/gateway.ts';
import { history } from './benchmarks/history.ts';
import { images } from './benchmarks/images.ts';
import { inFlightBenchmark } from './benchmarks/in-flight.ts';
import { isolation } from './benchmarks/isolation.ts';
import { labels } from './benchmarks/labels.ts';
import { latency } from './benchmarks/latency.ts';
import { peers } from './benchmarks/peers.ts';
import { polls } from './benchmarks/polls.ts';
import { scaleOut } from './benchmarks/scale-out.ts';
import { search } from './benchmarks/search.ts';
import { snapshot } from './benchmarks/snapshot.ts';
import { start } from './benchmarks/start.ts';
import { streams } from './benchmarks/streams.ts';
import { turn } from './benchmarks/turn.ts';
import { workflowHistory } from './benchmarks/workflow-history.ts';
import { workflowList } from './benchmarks/workflow-list.ts';
import { workflowSteps } from './benchmarks/workflow-steps.ts';

/** In the order in which they run. */
export const benchmarks: readonly Benchmark[] = [
  ceiling,
  accept,
  endToEnd,
  budgets,
  events,
  polls,
  workflowSteps,
  workflowList,
  peers,
  latency,
  turn,
  gateway,
  inFlightBenchmark,
  backlog,
  snapshot,
  scaleOut,
  start,
  bytes,
  labels,
  streams,
  history,
  search,
  workflowHistory,
  isolation,
  images,
  dashboard,
];
