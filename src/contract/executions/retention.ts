import { type Static, Type } from 'typebox';
import { endpoint } from '../endpoint.ts';
import * as limits from '../limits.ts';
import { body, nullable } from '../shared.ts';

/** Retention of records and their bodies. */

const tag = 'Retention';

const days = (description: string) =>
  nullable(Type.Integer({ minimum: 1, maximum: limits.retentionDaysMax }), description);

export const Retention = Type.Object(
  {
    recordsDays: days('Days to keep records. `null`: forever.'),
    bodiesDays: days(
      'Days to keep bodies (variables, prompts, output). `null`: as long as their record.',
    ),
  },
  { title: 'Retention', additionalProperties: false },
);
export type Retention = Static<typeof Retention>;

const agents = {
  recordsDays: days("Days to keep the agent's records. `null`: the workspace's setting."),
  bodiesDays: days("Days to keep their bodies. `null`: the workspace's setting."),
};

export const AgentRetention = Type.Object(agents, { title: 'AgentRetention' });

export const AgentRetentionInput = Type.Partial(Type.Object(agents), {
  title: 'AgentRetentionInput',
  description: 'Omitted fields do not change. Only an owner may change the retention.',
  additionalProperties: false,
});

export const getRetention = endpoint({
  id: 'getRetention',
  method: 'GET',
  path: '/api/v1/retention',
  summary: 'Get the retention of the workspace',
  tag,
  auth: 'manage',
  orPermission: 'own',
  session: 'read',
  responses: { 200: Retention },
});

export const setRetention = endpoint({
  id: 'setRetention',
  method: 'PUT',
  path: '/api/v1/retention',
  summary: 'Set the retention of the workspace',
  description:
    'Applies to all agents without their own setting. Days count from the time a call was accepted or refused. Expired records are permanently deleted within minutes. Statistics are not affected.',
  tag,
  auth: 'own',
  body: body('RetentionInput', Retention.properties),
  responses: { 200: Retention },
});
