import { Type } from 'typebox';
import { visibilities } from '../../../core/agent/agent.ts';
import * as limits from '../../../http/contract/contract-limits.ts';
import { endpoint } from '../../../http/contract/operation.ts';
import { patterns } from '../../../http/contract/patterns.ts';
import { problems } from '../../../http/contract/problem.ts';
import {
  body,
  creation,
  creationAndChange,
  id,
  ifMatch,
  name,
  nullable,
  nullableFields,
  oneOf,
  optional,
  ownId,
  page,
  pageQuery,
  query,
  text,
  versionLabel,
} from '../../../http/contract/shared.ts';
import { callSettingFields, callSettingInputs } from './call-settings-contract.ts';
import { modelSettings } from './model-settings-contract.ts';
import { contentFields, contentInputs } from './prompt-content.ts';
import { responseFormat } from './response-format-contract.ts';

const tag = 'Prompts';
const readable = { method: 'GET', tag, auth: 'manage', session: 'read' } as const;
const managed = { tag, auth: 'manage' } as const;
const description = nullable(text(limits.descriptionMax));
const visibility = oneOf(
  visibilities,
  '`private`: visible to its creator and to owners. `public`: visible to every member of the workspace. All who see an agent also see the version that it pins.',
);

const versionFields = {
  promptVersionId: ownId('version'),
  promptVersionLabel: Type.String({ description: 'Unique within its prompt.' }),
  number: Type.Integer({
    minimum: 1,
    description: 'Sequential number within its prompt, starting at 1.',
  }),
  promptId: id('prompt', "The version's prompt."),
  variables: Type.Array(Type.String(), { description: 'Placeholders in order of first use.' }),
  ...nullableFields(modelSettings),
  ...callSettingFields,
  notes: nullable(Type.String()),
  ...creation,
};

const variableSchemas = Type.Unsafe<Record<string, Record<string, unknown> | boolean>>({
  type: 'object',
  propertyNames: { pattern: patterns.variableName.source, maxLength: limits.variableNameMax },
  additionalProperties: { anyOf: [{ type: 'object' }, { type: 'boolean' }] },
  maxProperties: limits.variablesMax,
  description:
    'JSON schemas by variable name (draft 2020-12 or draft-07). A supplied value that does not match is rejected with 400 `INVALID_VARIABLES`. Patterns are in RE2 syntax, and `$ref` refers to the same schema. At most 65536 characters together.',
  examples: [{ amount: { type: 'number', minimum: 0 } }],
});

/** A version without its templates, which can be large. Used in lists. */
export const PromptVersionSummary = Type.Object(versionFields, { title: 'PromptVersionSummary' });

const PlaceholderWarning = Type.Object({
  placeholder: Type.String({ description: 'With its braces.', examples: ['{{my-var}}'] }),
  template: oneOf(['system', 'user', 'messages'], 'The template that contains it.'),
});

export const PlaceholderWarnings = Type.Array(PlaceholderWarning, {
  description:
    'Texts that look like placeholders but are not valid: they go to the model unchanged. At most 100.',
});

const VersionWarnings = Type.Array(Type.Union([PlaceholderWarning, Type.String()]), {
  description:
    'Texts that look like placeholders but are not valid, at most 100: they go to the model unchanged. And sentences about patterns of `responseFormat` that are not checked, because they are not of RE2.',
});

export const PromptVersion = Type.Object(
  {
    ...versionFields,
    number: nullable(
      Type.Integer({
        minimum: 1,
        description: 'Sequential number within its prompt, starting at 1. `null` for a draft.',
      }),
    ),
    system: nullable(Type.String({ description: 'Template of the system prompt.' })),
    user: nullable(
      Type.String({ description: 'Template of the user prompt. `null` if there are `messages`.' }),
    ),
    ...contentFields,
    responseFormat: nullable(responseFormat),
    variableSchemas,
    warnings: VersionWarnings,
  },
  { title: 'PromptVersion' },
);

export const Prompt = Type.Object(
  {
    promptId: ownId('prompt'),
    name: Type.String(),
    description: nullable(Type.String()),
    visibility,
    versionCount: Type.Integer({ minimum: 0 }),
    latestVersion: Type.Union([PromptVersionSummary, Type.Null()]),
    archived: Type.Boolean(),
    ...creationAndChange,
  },
  { title: 'Prompt' },
);

/** Content of a version, without its label. */
export const versionInput = {
  system: Type.Optional(nullable(text(limits.templateMax, 'Template of the system prompt.'))),
  user: Type.Optional(
    nullable(
      Type.String({
        ...{ minLength: 1, maxLength: limits.templateMax, pattern: patterns.notBlank.source },
        description: 'Template of the user prompt. Required unless there are `messages`.',
      }),
    ),
  ),
  ...contentInputs,
  ...optional(nullableFields(modelSettings)),
  ...callSettingInputs,
  ...optional(
    nullableFields({
      notes: text(limits.notesMax, 'What changed and why.'),
      ...{ responseFormat, variableSchemas },
    }),
  ),
};

/** A version that is executed without being saved; its label is ignored. */
export const DraftVersionInput = body('DraftVersionInput', {
  label: versionLabel,
  ...versionInput,
});

export const createPrompt = endpoint({
  ...managed,
  id: 'createPrompt',
  method: 'POST',
  path: '/api/v1/prompts',
  summary: 'Create a prompt',
  description: 'It is private unless `visibility` says otherwise.',
  body: body('PromptInput', {
    name: name('Display name. Does not have to be unique.'),
    ...optional({ description, visibility }),
  }),
  responses: { 201: Prompt },
  responseHeaders: ['ETag', 'Location'],
});

export const listPrompts = endpoint({
  ...readable,
  id: 'listPrompts',
  path: '/api/v1/prompts',
  summary: 'List prompts',
  description: 'Sorted newest first. Archived prompts are listed only with `archived=true`.',
  query: query({
    ...pageQuery,
    q: Type.Optional(
      text(limits.searchMax, 'Substring of the name or description. Case-insensitive.'),
    ),
    archived: Type.Optional(
      Type.Boolean({
        default: false,
        description: 'Lists archived prompts instead of active ones.',
      }),
    ),
  }),
  responses: { 200: page('PromptList', 'prompts', Prompt) },
});

export const getPrompt = endpoint({
  ...readable,
  id: 'getPrompt',
  path: '/api/v1/prompts/{promptId}',
  summary: 'Get a prompt',
  responses: { 200: Prompt, ...problems(404) },
  responseHeaders: ['ETag'],
});

export const updatePrompt = endpoint({
  ...managed,
  id: 'updatePrompt',
  method: 'PATCH',
  path: '/api/v1/prompts/{promptId}',
  summary: 'Update the name, description or visibility of a prompt',
  headers: ifMatch,
  body: body('PromptPatch', {
    name: Type.Optional(name('Display name. Does not have to be unique.')),
    ...optional({ description, visibility }),
  }),
  responses: { 200: Prompt, ...problems(404) },
  responseHeaders: ['ETag'],
});

export const archivePrompt = endpoint({
  ...managed,
  id: 'archivePrompt',
  method: 'POST',
  path: '/api/v1/prompts/{promptId}/archive',
  summary: 'Archive a prompt',
  description:
    'Hides the prompt and rejects new versions and new agents. Agents that pin one of its versions keep working. Idempotent.',
  responses: { 200: Prompt, ...problems(404) },
  responseHeaders: ['ETag'],
});

export const restorePrompt = endpoint({
  ...managed,
  id: 'restorePrompt',
  method: 'POST',
  path: '/api/v1/prompts/{promptId}/restore',
  summary: 'Restore an archived prompt',
  responses: { 200: Prompt, ...problems(404) },
  responseHeaders: ['ETag'],
});

export const createPromptVersion = endpoint({
  ...managed,
  id: 'createPromptVersion',
  method: 'POST',
  path: '/api/v1/prompts/{promptId}/versions',
  summary: 'Add a version to a prompt',
  description:
    'Versions are immutable. Placeholders are written `{{name}}`; `warnings` lists texts such as `{{my-var}}` that only look like one. To send a literal `{{name}}`, use a variable whose default value is that text. Agents keep their pinned version until another one is pinned. Returns 400 if a schema is not valid, and 409 if the label exists or the prompt is archived.',
  body: body('PromptVersionInput', {
    label: versionLabel,
    ...versionInput,
    from: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: limits.labelMax,
        description:
          'Label or identifier of a version of the prompt. With `refreshTools`, in place of the content.',
        examples: ['v3'],
      }),
    ),
    refreshTools: Type.Optional(
      Type.Boolean({
        description:
          'With `from`: adds a version with the same content, and the definitions that its tools have now.',
      }),
    ),
  }),
  responses: { 201: PromptVersion, ...problems(404, 409) },
  responseHeaders: ['Location'],
});

export const listPromptVersions = endpoint({
  ...readable,
  id: 'listPromptVersions',
  path: '/api/v1/prompts/{promptId}/versions',
  summary: 'List the versions of a prompt',
  description: 'Sorted newest first. Omits the templates.',
  query: query(pageQuery),
  responses: { 200: page('PromptVersionList', 'versions', PromptVersionSummary), ...problems(404) },
});

export const getPromptVersion = endpoint({
  ...readable,
  id: 'getPromptVersion',
  path: '/api/v1/prompts/{promptId}/versions/{promptVersionId}',
  summary: 'Get a prompt version',
  description: 'Also returns the pinned version of a visible agent whose prompt is not visible.',
  responses: { 200: PromptVersion, ...problems(404) },
});
