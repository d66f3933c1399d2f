import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  blankDraft,
  draftAfterSave,
  draftFromVersion,
  draftProblem,
  draftToStore,
  hasSameContent,
  shortForm,
  templatesOf,
  toVersionInput,
} from '../../dashboard/pages/prompt/draft.ts';
import type { PromptVersion } from '../../src/client/index.ts';

const initial = { ...blankDraft, baseId: 'ver_1', user: 'Hello' };
const sent = { ...initial, user: 'Hello you', label: 'polite', notes: 'You.' };

test('a draft equal to its version is not stored', () => {
  assert.equal(draftToStore(initial, initial), null);
  assert.equal(draftToStore({ ...initial, user: 'Hell' }, initial)?.user, 'Hell');
  assert.equal(draftToStore({ ...initial, label: 'b' }, initial)?.label, 'b');
});

test('saving clears the draft', () => {
  assert.equal(draftAfterSave(sent, sent, 'ver_2'), null);
  assert.equal(draftAfterSave(null, sent, 'ver_2'), null);
});

test('edits made during a save stay, based on the new version', () => {
  const now = { ...sent, user: 'Hello you two' };
  const rest = { ...now, baseId: 'ver_2', label: '', notes: '' };
  assert.deepEqual(draftAfterSave(now, sent, 'ver_2'), rest);
  const renamed = { ...sent, label: 'next' };
  assert.deepEqual(draftAfterSave(renamed, sent, 'ver_2'), {
    ...renamed,
    baseId: 'ver_2',
    notes: '',
  });
});

const version: PromptVersion = {
  ...{ promptVersionId: 'ver_1', promptVersionLabel: 'v1', number: 1, promptId: 'prm_1' },
  ...{ variables: [], model: 'cueline/echo', temperature: null, maxTokens: null, topP: null },
  ...{ notes: null, createdAt: '', createdBy: null, system: null, user: null, warnings: [] },
  responseFormat: { type: 'json', schema: { type: 'object' } },
  variableSchemas: { tone: { type: 'string' } },
  messages: [
    { role: 'system', content: 'Be {{tone}}.' },
    { placeholder: 'history' },
    { role: 'user', content: '{{question}}' },
  ],
  ...{ tools: [{ name: 'weather' }], seed: 7 },
};

test('a version with messages, tools and settings is edited without a loss', () => {
  const draft = draftFromVersion(version);
  const { messages, tools, seed, model, responseFormat, variableSchemas } = version;
  const sentBody = { messages, tools, seed, model, temperature: null, maxTokens: null, topP: null };
  const rest = { notes: null, responseFormat, variableSchemas };
  assert.deepEqual(toVersionInput(draft), { ...sentBody, ...rest });
  assert.equal(draftProblem(draft), null);
  assert.equal(templatesOf(draft).user, 'Be {{tone}}.\n{{history}}\n{{question}}');
  const moved = { ...draft, messages: draft.messages?.toReversed() ?? null };
  assert.ok(!hasSameContent(draft, moved));
  assert.ok(!hasSameContent(draft, { ...draft, extras: '' }));
});

test('every field of the form is sent', () => {
  const settings = { model: 'own/large', temperature: 0.5, maxTokens: 100, topP: 0.9 };
  const { messages: _, ...rest } = version;
  const draft = draftFromVersion({ ...rest, ...settings, system: 'S', user: 'U' });
  const named = { ...draft, label: 'polite', notes: 'Says please.' };
  const { tools, seed, responseFormat, variableSchemas } = version;
  assert.deepEqual(toVersionInput(named), {
    ...{ system: 'S', user: 'U', ...settings, label: 'polite', notes: 'Says please.' },
    ...{ tools, seed, responseFormat, variableSchemas },
  });
});

test('a draft that cannot be saved says why', () => {
  const draft = { ...blankDraft, user: 'Hi' };
  const problems: [Partial<typeof draft>, RegExp][] = [
    [{ user: '' }, /empty/],
    [{ extras: '{' }, /JSON/],
    [{ extras: '[]' }, /object/],
    [{ extras: '{"sed": 7}' }, /Unknown field "sed"/],
    [{ messages: [] }, /no messages/],
    [{ messages: [{ role: 'user', text: ' ' }] }, /empty/],
  ];
  for (const [change, message] of problems) {
    assert.match(draftProblem({ ...draft, ...change }) ?? '', message);
  }
});

test('messages become the short form only where nothing is lost', () => {
  const user = { role: 'user', text: 'U' } as const;
  const system = { role: 'system', text: 'S' } as const;
  assert.deepEqual(shortForm([user]), { system: '', user: 'U' });
  assert.deepEqual(shortForm([system, user]), { system: 'S', user: 'U' });
  for (const messages of [[system], [user, system], [user, user], [system, user, user]]) {
    assert.equal(shortForm(messages), null);
  }
});
