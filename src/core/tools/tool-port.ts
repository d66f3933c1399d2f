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
  /** The stored ids of the execution, its workspace and the tool's server. */
  readonly executionId: string;
  readonly workspaceId: string;
  readonly server: string;
  /** The name of the tool on its server, and the digest of its frozen definition. */
  readonly tool: string;
  readonly digest: string;
  /** The arguments with those that are bound, as the JSON text of an object. */
  readonly argumentsJson: string;
  /** For the whole request, its answer included. */
  readonly timeoutMs: number;
  /** Bytes of `result`. */
  readonly resultLimit: number;
  /** Aborted on cancel, drain and a lost lease. The port then answers `refused` if nothing has left, else `unknown`. */
  readonly signal: AbortSignal;
}

export type ToolOutcome =
  /** The server has answered: 2xx, or an error (`isError`) after which nothing has to be found out. */
  | {
      readonly kind: 'done';
      /** For the model, cut to `resultLimit`. Contains no secret. */
      readonly result: string;
      /** The answer as JSON text, if it is JSON and was not cut. */
      readonly resultJson: string | null;
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
