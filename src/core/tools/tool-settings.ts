/** `agentConfig.tools`: how an agent executes the tools of its version. */
export interface ToolSettings {
  /** Turns of the model, 1–50. */
  readonly maxTurns?: number;
  /** Calls of tools of an execution, 1–200. */
  readonly maxCalls?: number;
  /** `answer`: at a limit the model is called once more without tools. `fail`: the execution fails with `TOOL_LIMIT`. */
  readonly onLimit?: (typeof onLimits)[number];
  /** `text`: the model reads what went wrong with a call. `stop`: the execution fails with `TOOL_SERVER_ERROR`. */
  readonly onError?: (typeof onErrors)[number];
}

export const onLimits = ['answer', 'fail'] as const;
export const onErrors = ['text', 'stop'] as const;
export const turnsMax = 50;
export const toolCallsMax = 200;
/** A turn that asks for more, which no limit allows, ends the execution: each would be a step, and a message for the model. */
export const askedCallsMax = 1_000;
/** Calls of one turn at a time. */
export const parallelCallsMax = 8;
/** Requests of a call that may be repeated. */
export const safeSendsMax = 3;

export const toolSettingsDefault = {
  maxTurns: 10,
  maxCalls: 25,
  onLimit: 'answer',
  onError: 'text',
} as const satisfies Required<ToolSettings>;
