/** Model settings: what a version gives as default, an agent may override, and a run is carried out with. */
export interface ModelSettings {
  readonly model: string | null;
  readonly temperature: number | null;
  readonly maxTokens: number | null;
  readonly topP: number | null;
}

/** `agentConfig`: overrides of the version's settings, and how a run is carried out. */
export interface AgentConfig {
  readonly model?: string;
  readonly temperature?: number;
  readonly maxTokens?: number;
  readonly topP?: number;
  readonly maxAttempts?: number;
  readonly timeoutMs?: number;
  readonly maxConcurrency?: number;
}

/** What a run needs of its agent as it was when the call was accepted. Kept with the run until it ends. */
export interface ExecutionSettings {
  readonly maxTokens: number | null;
  readonly topP: number | null;
  /** Model calls that may fail before the run does, 1–5; 1 also allows no loss of a process: at most once. */
  readonly maxAttempts: number;
  /** From the first start of work to the end, all attempts together. */
  readonly timeoutMs: number;
  readonly maxConcurrency: number | null;
  readonly defaults: Readonly<Record<string, unknown>>;
  /** False where nothing of the bodies is to stay once the run has ended; absent means true. */
  readonly storeBodies?: false;
  /** The step of a workflow's run that the run is the call of. */
  readonly workflow?: WorkflowStepOf;
}

/** A step of a run of a workflow; `item` is -1, but for an item of a list. */
export interface WorkflowStepOf {
  readonly runId: string;
  readonly step: string;
  readonly item: number;
}

export const maxAttemptsDefault = 3;
export const timeoutMsDefault = 300_000;
/** A run that has lost so many processes under it is taken to be what kills them. */
export const lossesMax = 5;
/** The most characters that the system and the user prompt may have together once rendered. */
export const renderedCharsMax = 4_194_304;

/** The model and temperature that a run of this agent uses: its own, else the version's. */
export function effective(config: AgentConfig, version: ModelSettings): ModelSettings {
  return {
    model: config.model ?? version.model,
    temperature: config.temperature ?? version.temperature,
    maxTokens: config.maxTokens ?? version.maxTokens,
    topP: config.topP ?? version.topP,
  };
}

export function executionSettings(
  config: AgentConfig,
  version: ModelSettings,
  defaults: Readonly<Record<string, unknown>>,
  storeBodies: boolean,
): ExecutionSettings {
  const { maxTokens, topP } = effective(config, version);
  return {
    maxTokens,
    topP,
    maxAttempts: config.maxAttempts ?? maxAttemptsDefault,
    timeoutMs: config.timeoutMs ?? timeoutMsDefault,
    maxConcurrency: config.maxConcurrency ?? null,
    defaults,
    ...(!storeBodies && { storeBodies }),
  };
}
