import { type Static, Type } from 'typebox';
import { endpoint } from '../endpoint.ts';
import * as limits from '../limits.ts';
import { problems } from '../problem.ts';
import {
  body,
  id,
  ifMatch,
  name,
  nullable,
  page,
  pageQuery,
  query,
  text,
  time,
  versionLabel,
} from '../shared.ts';
import { modelSettings } from './agent-record.ts';

const tag = 'Prompts';
const author = nullable(id('user', 'Who created it; `null` where that account is gone.'));
const description = nullable(text(limits.descriptionMax));

const versionFields = {
  promptVersionId: id('version', 'Identifier.'),
  promptVersionLabel: Type.String({ description: 'Unique in its prompt.' }),
  number: Type.Integer({ minimum: 1, description: 'Counts up from 1 in its prompt.' }),
  promptId: id('prompt', 'The prompt it belongs to.'),
  variables: Type.Array(Type.String(), { description: 'The placeholders, in order of first use.' }),
  model: nullable(modelSettings.model),
  temperature: nullable(modelSettings.temperature),
  maxTokens: nullable(modelSettings.maxTokens),
  topP: nullable(modelSettings.topP),
  notes: nullable(Type.String()),
  createdAt: time('When it was created.'),
  createdBy: author,
};

/** A version as lists hold it: without its texts, which can be large. */
export const PromptVersionSummary = Type.Object(versionFields, { title: 'PromptVersionSummary' });
export type PromptVersionSummary = Static<typeof PromptVersionSummary>;

export const PromptVersion = Type.Object(
  {
    ...versionFields,
    system: nullable(Type.String({ description: 'The template of the system prompt.' })),
    user: Type.String({ description: 'The template of the user prompt.' }),
  },
  { title: 'PromptVersion' },
);
export type PromptVersion = Static<typeof PromptVersion>;

export const Prompt = Type.Object(
  {
    promptId: id('prompt', 'Identifier.'),
    name: Type.String(),
    description: nullable(Type.String()),
    versionCount: Type.Integer({ minimum: 0 }),
    latestVersion: Type.Union([PromptVersionSummary, Type.Null()]),
    archived: Type.Boolean(),
    createdAt: time('When it was created.'),
    updatedAt: time('When it last changed.'),
    createdBy: author,
  },
  { title: 'Prompt' },
);
export type Prompt = Static<typeof Prompt>;

/** What a version is made of, but for its label. */
export const versionInput = {
  system: Type.Optional(nullable(text(limits.templateMax, 'The template of the system prompt.'))),
  user: name('The template of the user prompt.', limits.templateMax),
  model: Type.Optional(nullable(modelSettings.model)),
  temperature: Type.Optional(nullable(modelSettings.temperature)),
  maxTokens: Type.Optional(nullable(modelSettings.maxTokens)),
  topP: Type.Optional(nullable(modelSettings.topP)),
  notes: Type.Optional(nullable(text(limits.notesMax, 'What changed and why.'))),
};

export const createPrompt = endpoint({
  id: 'createPrompt',
  method: 'POST',
  path: '/api/v1/prompts',
  summary: 'Create a prompt',
  tag,
  auth: 'manage',
  body: body('PromptInput', {
    name: name('For people; need not be unique.'),
    description: Type.Optional(description),
  }),
  answers: { 201: Prompt },
  sends: ['ETag', 'Location'],
});

export const listPrompts = endpoint({
  id: 'listPrompts',
  method: 'GET',
  path: '/api/v1/prompts',
  summary: 'List prompts',
  description: 'Newest first. Archived prompts only when asked for.',
  tag,
  auth: 'manage',
  session: 'read',
  query: query({
    ...pageQuery,
    q: Type.Optional(text(limits.searchMax, 'Part of the name or description, in any case.')),
    archived: Type.Optional(
      Type.Boolean({ default: false, description: 'The archived ones instead.' }),
    ),
  }),
  answers: { 200: page('PromptList', 'prompts', Prompt) },
});

export const getPrompt = endpoint({
  id: 'getPrompt',
  method: 'GET',
  path: '/api/v1/prompts/{promptId}',
  summary: 'Read a prompt',
  tag,
  auth: 'manage',
  session: 'read',
  answers: { 200: Prompt, ...problems(404) },
  sends: ['ETag'],
});

export const updatePrompt = endpoint({
  id: 'updatePrompt',
  method: 'PATCH',
  path: '/api/v1/prompts/{promptId}',
  summary: 'Change the name or description of a prompt',
  tag,
  auth: 'manage',
  headers: ifMatch,
  body: body('PromptPatch', {
    name: Type.Optional(name('For people; need not be unique.')),
    description: Type.Optional(description),
  }),
  answers: { 200: Prompt, ...problems(404, 412) },
  sends: ['ETag'],
});

export const archivePrompt = endpoint({
  id: 'archivePrompt',
  method: 'POST',
  path: '/api/v1/prompts/{promptId}/archive',
  summary: 'Archive a prompt',
  description:
    'Hides it and closes it to new versions and new agents. Agents that pin one of its versions run on. Archiving twice is the same as once.',
  tag,
  auth: 'manage',
  answers: { 200: Prompt, ...problems(404) },
  sends: ['ETag'],
});

export const restorePrompt = endpoint({
  id: 'restorePrompt',
  method: 'POST',
  path: '/api/v1/prompts/{promptId}/restore',
  summary: 'Take a prompt out of the archive',
  tag,
  auth: 'manage',
  answers: { 200: Prompt, ...problems(404) },
  sends: ['ETag'],
});

export const createPromptVersion = endpoint({
  id: 'createPromptVersion',
  method: 'POST',
  path: '/api/v1/prompts/{promptId}/versions',
  summary: 'Add a version to a prompt',
  description:
    'Immutable once made. Placeholders are written `{{name}}`. Agents keep the version they pin until one is pinned anew. 409 where the label is taken or the prompt is archived.',
  tag,
  auth: 'manage',
  body: body('PromptVersionInput', {
    label: versionLabel,
    ...versionInput,
  }),
  answers: { 201: PromptVersion, ...problems(404, 409) },
  sends: ['Location'],
});

export const listPromptVersions = endpoint({
  id: 'listPromptVersions',
  method: 'GET',
  path: '/api/v1/prompts/{promptId}/versions',
  summary: 'List the versions of a prompt',
  description: 'Newest first, without the templates.',
  tag,
  auth: 'manage',
  session: 'read',
  query: query(pageQuery),
  answers: { 200: page('PromptVersionList', 'versions', PromptVersionSummary), ...problems(404) },
});

export const getPromptVersion = endpoint({
  id: 'getPromptVersion',
  method: 'GET',
  path: '/api/v1/prompts/{promptId}/versions/{promptVersionId}',
  summary: 'Read a version of a prompt',
  tag,
  auth: 'manage',
  session: 'read',
  answers: { 200: PromptVersion, ...problems(404) },
});
