import { type Static, Type } from 'typebox';
import { endpoint } from '../../../http/contract/operation.ts';
import { body } from '../../../http/contract/shared.ts';
import { days } from '../../agents/contract/agent-retention.ts';

/** Retention of records and their bodies. */

const tag = 'Retention';

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
