import { type Static, Type } from 'typebox';
import { actions, stages, visibilities } from '../../../core/agent/agent.ts';
import { fallbackCodes } from '../../../core/agent/fallback.ts';
import {
  onErrors,
  onLimits,
  toolCallsMax,
  toolSettingsDefault,
  turnsMax,
} from '../../../core/tools/tool-settings.ts';
import * as limits from '../../../http/contract/contract-limits.ts';
import { patterns } from '../../../http/contract/patterns.ts';
import {
  body,
  creationAndChange,
  id,
  isStoredAsSent,
  name,
  nullable,
  nullableFields,
  Origins,
  oneOf,
  optional,
  optionalName,
  ownId,
  RateLimits,
  RateLimitsInput,
  reference,
  slug,
  text,
  time,
  variableNames,
} from '../../../http/contract/shared.ts';
import { callSettings } from '../../prompts/contract/call-settings-contract.ts';
import { costLimit } from '../../prompts/contract/cost-limit-contract.ts';
import { modelSettings } from '../../prompts/contract/model-settings-contract.ts';
import { responseFormat } from '../../prompts/contract/response-format-contract.ts';
import { AgentRetention, AgentRetentionInput } from './agent-retention.ts';

const executionSettings = {
  maxAttempts: Type.Integer({
    minimum: 1,
    maximum: limits.attemptsMax,
    description:
      'Maximum number of attempts with each model, including the first. Default: 3. With 1, each model is called at most once. Calls that the provider rejects before any work (rate limit, loading model) do not count.',
  }),
  timeoutMs: Type.Integer({
    minimum: limits.timeoutMsMin,
    maximum: limits.timeoutMsMax,
    description: 'Time limit for all attempts together, in milliseconds. Default: 300000.',
  }),
  maxConcurrency: Type.Integer({
    minimum: 1,
    maximum: limits.concurrencyMax,
    description:
      'Maximum number of concurrent executions of this agent, exact across processes. An execution takes a slot when accepted, or waits for one, and keeps it through retries. Unlimited by default.',
  }),
  maxCostUSD: costLimit(
    'The most that an execution may cost, in US dollars: all its calls of models, with retries and fallbacks. A call is sent only if what was spent and the most that it may cost fit. Without `maxTokens`, its answers have at most 4,096 tokens. No limit by default.',
  ),
  tools: Type.Partial(
    Type.Object({
      maxTurns: Type.Integer({
        minimum: 1,
        maximum: turnsMax,
        description: `Turns of the model in one execution. Default: ${toolSettingsDefault.maxTurns}.`,
      }),
      maxCalls: Type.Integer({
        minimum: 1,
        maximum: toolCallsMax,
        description: `Calls of tools in one execution. Default: ${toolSettingsDefault.maxCalls}.`,
      }),
      onLimit: oneOf(
        onLimits,
        'At a limit, what the model asked for is not called. `answer`: the model is called once more and may call no tool. `fail`: the execution ends with `TOOL_LIMIT`. Default: `answer`.',
      ),
      onError: oneOf(
        onErrors,
        '`text`: the model reads what went wrong with a call. `stop`: the execution ends with `TOOL_SERVER_ERROR`. Default: `text`.',
      ),
    }),
    {
      additionalProperties: false,
      description:
        'How tools that the service executes are called. Without effect for other versions.',
    },
  ),
};

const fallbackSettings = {
  models: Type.Array(modelSettings.model, {
    minItems: 1,
    maxItems: limits.modelsMax,
    uniqueItems: true,
    description:
      'Models in order, instead of `model`: the next one is called after a failure in `fallbackOn`. `model` then shows the first.',
    examples: [['openai/gpt-5.5', 'anthropic/claude-opus-5']],
  }),
  fallbackOn: Type.Array(oneOf(fallbackCodes), {
    uniqueItems: true,
    description:
      'Failures after which the next of `models` is called. Default: `PROVIDER_RATE_LIMITED` with a wait above 30 seconds, `PROVIDER_QUOTA`, `PROVIDER_ERROR`, `MODEL_TIMEOUT`, `CONTEXT_LENGTH`.',
  }),
  stream: Type.Boolean({
    description:
      'Whether the response of the model is read as a stream, so that readers of the execution see its text as it arrives. Default: `false`.',
  }),
  attemptTimeoutMs: Type.Integer({
    minimum: limits.timeoutMsMin,
    maximum: limits.timeoutMsMax,
    description:
      'Time limit for one attempt, in milliseconds. Default: an equal share of the remaining time for each of the remaining `models`.',
  }),
};

const config = {
  ...{ ...modelSettings, ...callSettings, ...fallbackSettings, ...executionSettings },
  responseFormat,
};

export const AgentConfig = Type.Partial(Type.Object(config), {
  [isStoredAsSent]: true,
  title: 'AgentConfig',
  description: 'Settings that override the defaults of the prompt version, and execution settings.',
  additionalProperties: false,
});
export type AgentConfig = Static<typeof AgentConfig>;

const { stream, ...fallback } = fallbackSettings;
const patchable = {
  ...{ ...modelSettings, ...callSettings, ...fallback, stream, ...executionSettings },
  responseFormat,
};

export const AgentConfigPatch = Type.Object(optional(nullableFields(patchable)), {
  title: 'AgentConfigPatch',
  description: 'Merged into the current settings. `null` removes a field.',
  additionalProperties: false,
});

const requiredVariables = variableNames(
  'Variables that every execution must supply. A default does not count. May not be optional as well.',
);
const optionalVariables = variableNames('Variables that an execution may supply.');
const defaultVariableValues = Type.Unsafe<Record<string, unknown>>({
  type: 'object',
  propertyNames: { pattern: patterns.variableName.source, maxLength: limits.variableNameMax },
  additionalProperties: true,
  maxProperties: limits.variablesMax,
  description: 'Default values by variable name. A value is any JSON; `null` is no default.',
});

const labels = {
  project: nullable(optionalName('Project, for grouping agents.', limits.projectMax)),
  category: nullable(optionalName('Category, for grouping agents.', limits.categoryMax)),
  tags: Type.Array(name('A tag.', limits.tagMax), {
    maxItems: limits.tagsMax,
    uniqueItems: true,
    description: 'Tags, for finding agents.',
  }),
  description: nullable(text(limits.descriptionMax)),
};

const storeBodies = Type.Boolean({
  description:
    'Whether bodies (variables, prompts, output) are stored. If `false`, executions accepted from then on keep none: variables, prompts, IP address and user agent are deleted when the execution ends, the output 15 minutes later, and `error` never quotes the provider. Only an owner may turn it back on.',
});

const callerSettings = {
  allowInstructions: Type.Boolean({
    description:
      'Whether callers of the OpenAI API may add `instructions` and system messages. Default: `false`.',
  }),
  allowTools: Type.Boolean({
    description: 'Whether callers of the OpenAI API may add function tools. Default: `false`.',
  }),
};

const aliases = Type.Array(Type.String({ pattern: patterns.alias.source }), {
  maxItems: limits.aliasesMax,
  uniqueItems: true,
  description:
    'Other names that are accepted wherever the identifier or the slug is, such as the identifier of a prompt of OpenAI. Case-sensitive, unique among the slugs and aliases of the workspace; free again after deletion, not after archiving.',
  examples: [['pmpt_68a1f0c2b7d4']],
});

const versionAliases = Type.Unsafe<Record<string, string>>({
  type: 'object',
  propertyNames: { pattern: patterns.versionNumber.source },
  additionalProperties: { type: 'string', minLength: 1, maxLength: limits.labelMax },
  maxProperties: limits.versionAliasesMax,
  description:
    "Labels of versions of the agent's prompt by the version numbers that callers of the OpenAI API send as `prompt.version`. A number that is listed here means that version and no other.",
  examples: [{ '1': 'v3' }],
});

const visibility = oneOf(
  visibilities,
  '`private`: visible to its creator and to owners. `public`: visible to every member of the workspace.',
);

export const Agent = Type.Object(
  {
    agentId: ownId('agent'),
    agentName: Type.String(),
    slug,
    aliases,
    promptId: id('prompt', "The agent's prompt."),
    promptVersionId: id('version', 'The pinned prompt version.'),
    promptVersionLabel: Type.String({ description: 'Label of the pinned version.' }),
    agentConfig: AgentConfig,
    requiredVariables,
    optionalVariables,
    defaultVariableValues,
    apiEnabled: Type.Boolean({ description: 'Whether the agent accepts calls with an API key.' }),
    visibility,
    rateLimits: RateLimits,
    status: oneOf(stages, 'Lifecycle stage.'),
    archived: Type.Boolean({
      description:
        'Whether the agent is archived: hidden and closed to calls. Independent of the stage.',
    }),
    allowedActions: Type.Array(oneOf(actions), {
      description: 'Lifecycle actions that are allowed now.',
    }),
    ...labels,
    allowedOrigins: Origins,
    retention: AgentRetention,
    storeBodies,
    ...callerSettings,
    versionAliases,
    ...creationAndChange,
  },
  { title: 'Agent' },
);

const names = optional({ slug, aliases });
const variables = optional({ requiredVariables, optionalVariables, defaultVariableValues });
const otherSettings = optional({
  ...{ visibility, rateLimits: RateLimitsInput, ...labels, allowedOrigins: Origins },
  ...{ retention: AgentRetentionInput, storeBodies, ...callerSettings, versionAliases },
});

export const AgentInput = body('AgentInput', {
  agentName: name('Display name. Does not have to be unique.'),
  ...names,
  promptId: reference('prompt', "The agent's prompt."),
  promptVersionId: reference('version', 'The prompt version to pin.'),
  agentConfig: Type.Optional(AgentConfig),
  ...variables,
  ...otherSettings,
});

export const AgentPatch = body('AgentPatch', {
  agentName: Type.Optional(AgentInput.properties.agentName),
  ...names,
  promptVersionId: Type.Optional(reference('version', 'Pins this version of the same prompt.')),
  agentConfig: Type.Optional(AgentConfigPatch),
  ...variables,
  apiEnabled: Type.Optional(
    Type.Boolean({
      description:
        'Turns the API on or off in Testing and Deployed. Returns 409 in any other stage. `enable-api`, `deploy`, `rollback` and `re-enable` turn it on.',
    }),
  ),
  ...otherSettings,
});

export const Pin = Type.Object(
  {
    pinId: ownId('pin'),
    promptVersionId: id('version', 'The pinned version.'),
    promptVersionLabel: Type.String(),
    number: Type.Integer({ description: 'Number of the version.' }),
    pinnedAt: time('Time when the version was pinned.'),
    pinnedBy: nullable(id('user', 'User who pinned it. `null` if the account no longer exists.')),
  },
  { title: 'Pin' },
);

export const AgentPin = Type.Object(
  {
    ...Pin.properties,
    agentId: id('agent', 'The agent.'),
    agentName: Type.String({ description: 'Its current name.' }),
  },
  { title: 'AgentPin' },
);
