import { Type } from 'typebox';
import { endpoint } from '../endpoint.ts';
import * as limits from '../limits.ts';
import { patterns } from '../patterns.ts';
import { problems } from '../problem.ts';
import { body, name, ownId, time } from '../shared.ts';

const tag = 'Executions';
const managed = { tag, auth: 'session' } as const;

const viewName = name('Unique among the views of the user.');
const search = Type.String({
  maxLength: limits.viewSearchMax,
  pattern: patterns.querySearch.source,
  description:
    'The filters as the query of the list in the dashboard: `status=failed&period=yesterday`.',
  examples: ['status=failed&period=yesterday'],
});

export const View = Type.Object(
  {
    viewId: ownId('view'),
    name: Type.String(),
    search: Type.String({ description: 'The query of the list in the dashboard.' }),
    createdAt: time('Time of creation.'),
  },
  { title: 'View' },
);

export const listViews = endpoint({
  id: 'listViews',
  method: 'GET',
  path: '/api/v1/views',
  summary: 'List your saved views of executions',
  description: 'By name. Other members have their own.',
  tag,
  auth: 'session',
  responses: { 200: Type.Object({ views: Type.Array(View) }, { title: 'ViewList' }) },
});

export const createView = endpoint({
  ...managed,
  id: 'createView',
  method: 'POST',
  path: '/api/v1/views',
  summary: 'Save a view of executions',
  description: `Returns 409 if you have a view with this name, or already ${limits.viewsMax} views. It ends with your membership. An erasure deletes it if its name or a value of its filters names the erased person.`,
  body: body('ViewInput', { name: viewName, search }),
  responses: { 201: View, ...problems(409) },
});

export const updateView = endpoint({
  ...managed,
  id: 'updateView',
  method: 'PATCH',
  path: '/api/v1/views/{viewId}',
  summary: 'Rename or change a saved view',
  description: 'An omitted field does not change.',
  body: body('ViewPatch', { name: Type.Optional(viewName), search: Type.Optional(search) }),
  responses: { 200: View, ...problems(404, 409) },
});

export const deleteView = endpoint({
  ...managed,
  id: 'deleteView',
  method: 'DELETE',
  path: '/api/v1/views/{viewId}',
  summary: 'Delete a saved view',
  responses: { 204: null, ...problems(404) },
});
