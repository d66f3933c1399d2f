import { type ToolSettings, toolSettingsDefault } from '../tools/tool-settings.ts';
import { type CallSettings, callSettingsOf, hasSettings } from './call-settings.ts';
import type { CallAdditions } from './conversation.ts';
import type { FallbackSettings } from './fallback.ts';
import type { ResponseFormat } from './response-format.ts';

/** Model settings: defaults of a version, which an agent may override. */
export interface ModelSettings {
  readonly model: string | null;
  readonly temperature: number | null;
  readonly maxTokens: number | null;
  readonly topP: number | null;
  readonly settings: CallSettings;
}

/** `agentConfig`: overrides of the version's settings, and execution settings. */
export interface AgentConfig extends CallSettings, FallbackSettings {
  /** The first of `models` if those are set. */
  readonly model?: string;
  readonly temperature?: number;
  readonly maxTokens?: number;
  readonly topP?: number;
  readonly maxAttempts?: number;
  readonly timeoutMs?: number;
  readonly maxConcurrency?: number;
  /** The most that an execution may cost, in US dollars. */
  readonly maxCostUSD?: number;
  readonly responseFormat?: ResponseFormat;
  /** Whether the response of the model is read as a stream. */
  readonly stream?: boolean;
  readonly tools?: ToolSettings;
}

/** The agent's settings at acceptance. They are kept with the execution until it ends. */
export interface ExecutionSettings extends FallbackSettings {
  readonly maxTokens: number | null;
  readonly topP: number | null;
  /** Attempts that may fail, 1–5; 1 means at most once, so a lost worker ends the execution too. */
  readonly maxAttempts: number;
  /** From the first start of work to the end, over all attempts. */
  readonly timeoutMs: number;
  readonly maxConcurrency: number | null;
  /** The most that all its calls may cost, in US dollars; absent without a limit. */
  readonly maxCostUSD?: number;
  /** Absent if there are none. */
  readonly call?: CallSettings;
  /** What the caller adds to the prompt. */
  readonly additions?: CallAdditions;
  /** Only if the agent overrides that of the version, or the caller asks for one. */
  readonly responseFormat?: ResponseFormat;
  /** The response of the model is read as a stream. */
  readonly stream?: true;
  /** What a limit of cost set where the agent sets nothing. */
  readonly applied?: AppliedLimits;
  /** Only if its version executes tools. */
  readonly tools?: Required<ToolSettings>;
  readonly defaults: Readonly<Record<string, unknown>>;
  /** False: nothing of the bodies remains after the end; absent means true. */
  readonly storeBodies?: false;
}

/** Settings that the agent does not have, as an execution was sent with them. */
export interface AppliedLimits {
  readonly maxTokens: number;
}

/** A step of a workflow run; `item` is -1 except for an item of a list. */
export interface WorkflowStepOf {
  readonly runId: string;
  readonly step: string;
  readonly item: number;
}

export const maxAttemptsDefault = 3;
export const timeoutMsDefault = 300_000;
/** After so many lost workers the execution itself is assumed to kill them. */
export const lossesMax = 5;
/** The maximum characters of the rendered system and user prompt together. */
export const renderedCharsMax = 4_194_304;

/** The model settings of an execution: the agent's, else the version's. */
export function effective(config: AgentConfig, version: ModelSettings): ModelSettings {
  return {
    model: config.model ?? version.model,
    temperature: config.temperature ?? version.temperature,
    maxTokens: config.maxTokens ?? version.maxTokens,
    topP: config.topP ?? version.topP,
    settings: { ...version.settings, ...callSettingsOf(config) },
  };
}

export function executionSettings(
  config: AgentConfig,
  version: ModelSettings,
  defaults: Readonly<Record<string, unknown>>,
  {
    storeBodies,
    executesTools,
  }: { readonly storeBodies: boolean; readonly executesTools: boolean },
): ExecutionSettings {
  const { maxTokens, topP, settings: call } = effective(config, version);
  const { models, fallbackOn, attemptTimeoutMs } = config;
  return {
    maxTokens,
    topP,
    maxAttempts: config.maxAttempts ?? maxAttemptsDefault,
    timeoutMs: config.timeoutMs ?? timeoutMsDefault,
    maxConcurrency: config.maxConcurrency ?? null,
    ...(hasSettings(call) && { call }),
    ...(config.responseFormat && { responseFormat: config.responseFormat }),
    defaults,
    ...(models && { models }),
    ...(fallbackOn && { fallbackOn }),
    ...(attemptTimeoutMs && { attemptTimeoutMs }),
    ...(!storeBodies && { storeBodies }),
    ...(config.stream && { stream: true }),
    ...(executesTools && { tools: { ...toolSettingsDefault, ...config.tools } }),
  };
}
