import { Type } from 'typebox';
import * as limits from '../../../http/contract/contract-limits.ts';
import { endpoint } from '../../../http/contract/operation.ts';
import { body, id, name, nullable, time } from '../../../http/contract/shared.ts';

const tag = 'Usage';

const actionsPerMonth = nullable(
  Type.Integer({ minimum: 0, maximum: limits.actionsPerMonthMax }),
  'AI Actions per month. `null`: unlimited, but counted.',
);

export const Usage = Type.Object(
  {
    month: Type.String({
      pattern: '^\\d{4}-\\d{2}$',
      description: 'Calendar month, UTC.',
      examples: ['2026-11'],
    }),
    plan: Type.String({ description: 'Name of the plan.' }),
    actionsUsed: Type.Integer({ minimum: 0, description: 'Executions accepted this month.' }),
    actionsPerMonth,
    actionsRemaining: nullable(Type.Integer({ minimum: 0 }), '`null` if unlimited.'),
    resetAt: time('Start of the next month.'),
  },
  { title: 'Usage' },
);

/** Of `cueline workspaces create` as well. */
export const workspaceName = name('Display name. Does not have to be unique.');

const plan = { name: name('Name of the plan.'), actionsPerMonth };

export const getUsage = endpoint({
  id: 'getUsage',
  method: 'GET',
  path: '/api/v1/usage',
  summary: "Get this month's usage",
  tag,
  auth: 'manage',
  session: 'read',
  responses: { 200: Usage },
});

export const setPlan = endpoint({
  id: 'setPlan',
  method: 'PUT',
  path: '/api/v1/plan',
  summary: 'Set the plan of the workspace',
  description: 'Applies from the next call on. Usage of this month is kept.',
  tag,
  auth: 'own',
  body: body('PlanInput', plan),
  responses: { 200: Type.Object(plan, { title: 'Plan' }) },
});

export const updateWorkspace = endpoint({
  id: 'updateWorkspace',
  method: 'PATCH',
  path: '/api/v1/workspace',
  summary: 'Rename the workspace',
  tag: 'Members',
  auth: 'own',
  body: body('WorkspacePatch', { name: workspaceName }),
  responses: {
    200: Type.Object(
      { workspaceId: id('workspace', 'The workspace.'), name: workspaceName },
      { title: 'Workspace' },
    ),
  },
});
