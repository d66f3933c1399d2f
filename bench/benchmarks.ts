import type { Benchmark } from './benchmark.ts';
import { accept } from './benchmarks/accept.ts';
import { ceiling } from './benchmarks/ceiling.ts';
import { endToEnd } from './benchmarks/end-to-end.ts';
import { latency } from './benchmarks/latency.ts';
import { peers } from './benchmarks/peers.ts';

/** In the order in which they run. */
export const benchmarks: readonly Benchmark[] = [ceiling, accept, endToEnd, peers, latency];
