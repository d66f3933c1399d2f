/** What the load generator is told to do, and what it answers. Both cross a process boundary as JSON. */

/** A request that is sent again and again, byte for byte. */
export interface Target {
  readonly host: string;
  readonly port: number;
  /** Further ports of the same host: the connections are dealt out over all. */
  readonly morePorts?: readonly number[];
  /** POST unless given. */
  readonly method?: 'GET' | 'POST';
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Empty for a request that has none. */
  readonly body: string;
}

/** A closed loop: each connection sends its next request when the last one is answered. One of both bounds is given. */
export interface Job {
  readonly target: Target;
  readonly connections: number;
  readonly requests?: number;
  readonly seconds?: number;
}

export interface Load {
  readonly answered: number;
  /** From the first request sent to the last one answered. */
  readonly seconds: number;
  /** Answers by their status. */
  readonly statuses: Readonly<Record<number, number>>;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Spent by the generator itself, user and system. */
  readonly cpuMicros: number;
}
