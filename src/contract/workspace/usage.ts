import { type Static, Type } from 'typebox';
import { endpoint } from '../endpoint.ts';
import * as limits from '../limits.ts';
import { body, name, nullable, time } from '../shared.ts';

const tag = 'Usage';

const actionsPerMonth = nullable(
  Type.Integer({ minimum: 0, maximum: limits.actionsPerMonthMax }),
  'AI Actions a month; `null` counts without a cap.',
);

export const Usage = Type.Object(
  {
    month: Type.String({
      pattern: '^\\d{4}-\\d{2}$',
      description: 'The calendar month, UTC.',
      examples: ['2026-11'],
    }),
    plan: Type.String({ description: 'The name of the plan.' }),
    actionsUsed: Type.Integer({ minimum: 0, description: 'Executions accepted this month.' }),
    actionsPerMonth,
    actionsRemaining: nullable(Type.Integer({ minimum: 0 }), '`null` where nothing caps.'),
    resetAt: time('When the next month begins.'),
  },
  { title: 'Usage' },
);
export type Usage = Static<typeof Usage>;

const plan = { name: name('The name of the plan.'), actionsPerMonth };

export const getUsage = endpoint({
  id: 'getUsage',
  method: 'GET',
  path: '/api/v1/usage',
  summary: 'Read what the workspace has used this month',
  tag,
  auth: 'manage',
  session: 'read',
  answers: { 200: Usage },
});

export const setPlan = endpoint({
  id: 'setPlan',
  method: 'PUT',
  path: '/api/v1/plan',
  summary: 'Set the plan of the workspace',
  description: 'Holds from the next call on; what was used this month stays counted.',
  tag,
  auth: 'owner',
  body: body('PlanInput', plan),
  answers: { 200: Type.Object(plan, { title: 'Plan' }) },
});
