/**
 * The tool port: one request to a tool server goes in, how it ended comes out. The engine repeats; the port never does, and it follows
 * no redirect. It does not throw for anything that a server or the network does.
 */
export interface ToolPort {
  call(request: ToolRequest): Promise<ToolOutcome>;
}

export interface ToolRequest {
  /** In the form of the API (`tcl_…`). The same for every request of one call: the server's idempotency key. */
  readonly toolCallId: string;
  /** The stored id; null for a call that somebody tries. */
  readonly executionId: string | null;
  /** Null if its server does not exist any more. */
  readonly called: CalledTool | null;
  /** Its name on that server. */
  readonly tool: string;
  /** The arguments with those that are bound, as the JSON text of an object. */
  readonly argumentsJson: string;
  /** For the whole request, its answer included. */
  readonly timeoutMs: number;
  /** Bytes of `result`. */
  readonly resultLimit: number;
  /** Aborted on cancel, drain and a lost lease. The port then answers `refused` if nothing has left, else `unknown`. */
  readonly signal: AbortSignal;
}

/** Where a tool is, and what its requests need: as its owner has set it when the call is dispatched. */
export interface CalledTool {
  readonly serverId: string;
  readonly workspaceId: string;
  readonly url: string | null;
  readonly enabled: boolean;
  readonly maxConcurrency: number;
  readonly sealedHeaders: Buffer | null;
  readonly sealedSecret: Buffer;
  /** Null unless it still signs. */
  readonly previousSealedSecret: Buffer | null;
  /** Null if the server has no such tool any more. */
  readonly path: string | null;
  /** The database's clock when this was read, and that of this process. */
  readonly nowMs: number;
  readonly readAt: number;
}

export type ToolOutcome =
  /** The server has answered: 2xx, or an error (`isError`) after which nothing has to be found out. */
  | {
      readonly kind: 'done';
      /** For the model, cut to `resultLimit`. Contains no secret. */
      readonly result: string;
      readonly isError: boolean;
    }
  /** Refused before any work: nothing has left this process, or 429. */
  | {
      readonly kind: 'refused';
      /** The server's `Retry-After`; 0 if it gave none. */
      readonly retryAfterMs: number;
      /** Without details of the network: it goes into the record. */
      readonly problem: string;
    }
  /** 408, 502, 503, 504, a timeout, or a connection that broke after the first byte. */
  | { readonly kind: 'unknown'; readonly problem: string };
