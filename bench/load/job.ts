/** The messages to and from the load generator, as JSON. */

/** A request, or several in turn, sent repeatedly, byte for byte. */
export interface Target {
  readonly host: string;
  readonly port: number;
  /** More ports of the same host: connections are distributed over all of them. */
  readonly morePorts?: readonly number[];
  /** POST by default. */
  readonly method?: 'GET' | 'POST';
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Empty for a request without a body. */
  readonly body: string;
  /** Sent in turn instead of `body`. */
  readonly bodies?: readonly string[];
}

/** A closed loop: each connection sends its next request after the last response. Exactly one bound is set. */
export interface Job {
  readonly target: Target;
  readonly connections: number;
  readonly requests?: number;
  readonly seconds?: number;
}

export interface Load {
  readonly answered: number;
  /** From the first request to the last response. */
  readonly seconds: number;
  /** The number of responses by status. */
  readonly statuses: Readonly<Record<number, number>>;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** CPU time of the generator, user and system. */
  readonly cpuMicros: number;
}
