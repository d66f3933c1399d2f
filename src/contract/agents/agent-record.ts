import { type Static, Type } from 'typebox';
import { actions, stages, visibilities } from '../../core/agent/agent.ts';
import { AgentRetention, AgentRetentionInput } from '../executions/retention.ts';
import * as limits from '../limits.ts';
import { patterns } from '../patterns.ts';
import {
  body,
  id,
  name,
  nullable,
  Origins,
  oneOf,
  RateLimits,
  RateLimitsInput,
  reference,
  text,
  time,
  variableNames,
} from '../shared.ts';

/** The settings of a model, as a version defaults and an agent overrides them. */
export const modelSettings = {
  model: Type.String({
    maxLength: limits.modelMax,
    pattern: patterns.model.source,
    description: 'As `provider/model`.',
    examples: ['openai/gpt-5.5', 'cueline/echo'],
  }),
  temperature: Type.Number({
    minimum: 0,
    maximum: limits.temperatureMax,
    description: 'How freely the model chooses its words.',
  }),
  maxTokens: Type.Integer({
    minimum: 1,
    maximum: limits.maxTokensMax,
    description: 'The most tokens of an answer.',
  }),
  topP: Type.Number({ minimum: 0, maximum: 1, description: 'Nucleus sampling.' }),
};

const executionSettings = {
  maxAttempts: Type.Integer({
    minimum: 1,
    maximum: limits.attemptsMax,
    description: 'Model calls that may fail before the run does; 3 unless set. 1 is at most once.',
  }),
  timeoutMs: Type.Integer({
    minimum: limits.timeoutMsMin,
    maximum: limits.timeoutMsMax,
    description: 'For all attempts together; 300000 unless set.',
  }),
  maxConcurrency: Type.Integer({
    minimum: 1,
    maximum: limits.concurrencyMax,
    description: 'Runs of this agent at once; no cap unless set.',
  }),
};

const config = { ...modelSettings, ...executionSettings };

export const AgentConfig = Type.Partial(Type.Object(config), {
  title: 'AgentConfig',
  description: "What the agent sets over its version's defaults, and how its runs are carried out.",
  additionalProperties: false,
});
export type AgentConfig = Static<typeof AgentConfig>;

export const AgentConfigPatch = Type.Partial(
  Type.Object({
    model: nullable(config.model),
    temperature: nullable(config.temperature),
    maxTokens: nullable(config.maxTokens),
    topP: nullable(config.topP),
    maxAttempts: nullable(config.maxAttempts),
    timeoutMs: nullable(config.timeoutMs),
    maxConcurrency: nullable(config.maxConcurrency),
  }),
  {
    title: 'AgentConfigPatch',
    description: 'Merged into what is set; `null` removes a field.',
    additionalProperties: false,
  },
);

const requiredVariables = variableNames(
  'What every execution must supply; no default can stand in.',
);
const optionalVariables = variableNames('What an execution may supply.');
const defaultVariableValues = Type.Unsafe<Record<string, unknown>>({
  type: 'object',
  propertyNames: { pattern: patterns.variableName.source, maxLength: limits.variableNameMax },
  additionalProperties: true,
  maxProperties: limits.variablesMax,
  description: 'Variable name to default value, any JSON.',
});

const labels = {
  project: nullable(text(limits.projectMax, 'To group agents by.')),
  category: nullable(text(limits.categoryMax, 'To group agents by.')),
  tags: Type.Array(Type.String({ minLength: 1, maxLength: limits.tagMax }), {
    maxItems: limits.tagsMax,
    uniqueItems: true,
    description: 'To find agents by.',
  }),
  description: nullable(text(limits.descriptionMax)),
};

const storeBodies = Type.Boolean({
  description:
    'Whether bodies (variables, prompts, output) are kept. Where not, runs accepted from then on leave none: variables and prompts go when the run ends, the output 15 minutes later. Only an owner may switch it back on.',
});

const visibility = oneOf(
  visibilities,
  '`private`: seen by its creator and owners. `public`: by every member of the workspace.',
);

export const Agent = Type.Object(
  {
    agentId: id('agent', 'Identifier.'),
    agentName: Type.String(),
    promptId: id('prompt', 'The prompt it is built from.'),
    promptVersionId: id('version', 'The pinned version.'),
    promptVersionLabel: Type.String({ description: 'Its label.' }),
    agentConfig: AgentConfig,
    requiredVariables,
    optionalVariables,
    defaultVariableValues,
    apiEnabled: Type.Boolean({ description: 'Whether calls with a key are let in.' }),
    visibility,
    rateLimits: RateLimits,
    status: oneOf(stages, 'Stage of the lifecycle.'),
    archived: Type.Boolean({ description: 'Hidden and closed, beside its stage.' }),
    allowedActions: Type.Array(oneOf(actions), { description: 'What the lifecycle allows now.' }),
    ...labels,
    allowedOrigins: Origins,
    retention: AgentRetention,
    storeBodies,
    createdAt: time('When it was created.'),
    updatedAt: time('When it last changed.'),
    createdBy: nullable(id('user', 'Who created it; `null` where that account is gone.')),
  },
  { title: 'Agent' },
);
export type Agent = Static<typeof Agent>;

export const AgentInput = body('AgentInput', {
  agentName: name('For people; need not be unique.'),
  promptId: reference('prompt', 'The prompt it is built from.'),
  promptVersionId: reference('version', 'The version to pin.'),
  agentConfig: Type.Optional(AgentConfig),
  requiredVariables: Type.Optional(requiredVariables),
  optionalVariables: Type.Optional(optionalVariables),
  defaultVariableValues: Type.Optional(defaultVariableValues),
  visibility: Type.Optional(visibility),
  rateLimits: Type.Optional(RateLimitsInput),
  project: Type.Optional(labels.project),
  category: Type.Optional(labels.category),
  tags: Type.Optional(labels.tags),
  description: Type.Optional(labels.description),
  allowedOrigins: Type.Optional(Origins),
  retention: Type.Optional(AgentRetentionInput),
  storeBodies: Type.Optional(storeBodies),
});

export const AgentPatch = body('AgentPatch', {
  agentName: Type.Optional(AgentInput.properties.agentName),
  promptVersionId: Type.Optional(reference('version', 'Pins this version of the same prompt.')),
  agentConfig: Type.Optional(AgentConfigPatch),
  requiredVariables: Type.Optional(requiredVariables),
  optionalVariables: Type.Optional(optionalVariables),
  defaultVariableValues: Type.Optional(defaultVariableValues),
  apiEnabled: Type.Optional(
    Type.Boolean({ description: 'A switch within Testing and Deployed; 409 in any other stage.' }),
  ),
  visibility: Type.Optional(visibility),
  rateLimits: Type.Optional(RateLimitsInput),
  project: Type.Optional(labels.project),
  category: Type.Optional(labels.category),
  tags: Type.Optional(labels.tags),
  description: Type.Optional(labels.description),
  allowedOrigins: Type.Optional(Origins),
  retention: Type.Optional(AgentRetentionInput),
  storeBodies: Type.Optional(storeBodies),
});

export const Pin = Type.Object(
  {
    pinId: id('pin', 'Identifier.'),
    promptVersionId: id('version', 'The version that was pinned.'),
    promptVersionLabel: Type.String(),
    number: Type.Integer({ description: 'The number of that version.' }),
    pinnedAt: time('From when it was.'),
    pinnedBy: nullable(id('user', 'By whom; `null` where that account is gone.')),
  },
  { title: 'Pin' },
);
export type Pin = Static<typeof Pin>;
