import { Type } from 'typebox';
import * as limits from '../../../http/contract/contract-limits.ts';
import { endpoint } from '../../../http/contract/operation.ts';
import { patterns } from '../../../http/contract/patterns.ts';
import { ifMatch, name } from '../../../http/contract/shared.ts';

const tag = 'Executions';
const managed = { tag, auth: 'session' } as const;

const viewName = name('Unique among your views.');
const search = Type.String({
  maxLength: limits.viewSearchMax,
  pattern: patterns.querySearch.source,
  description:
    'The filters as the query of the list in the dashboard: `status=failed&period=yesterday`.',
  examples: ['status=failed&period=yesterday'],
});

export const Views = Type.Object(
  {
    views: Type.Array(
      Type.Object({ name: viewName, search }, { title: 'View', additionalProperties: false }),
      { maxItems: limits.viewsMax, description: 'By name. Names are unique.' },
    ),
  },
  { title: 'Views', additionalProperties: false },
);

export const getViews = endpoint({
  ...managed,
  id: 'getViews',
  method: 'GET',
  path: '/api/v1/me/views',
  summary: 'Get your saved views of executions',
  description: 'Other members have their own.',
  responses: { 200: Views },
  responseHeaders: ['ETag'],
});

export const putViews = endpoint({
  ...managed,
  id: 'putViews',
  method: 'PUT',
  path: '/api/v1/me/views',
  summary: 'Replace your saved views of executions',
  description: `At most ${limits.viewsMax}. They end with your membership. An erasure deletes those whose name or a value of whose filters names the erased person.`,
  headers: ifMatch,
  body: Views,
  responses: { 200: Views },
  responseHeaders: ['ETag'],
});
