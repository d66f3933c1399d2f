import { type Static, Type } from 'typebox';
import { endpoint } from '../endpoint.ts';
import * as limits from '../limits.ts';
import { body, nullable } from '../shared.ts';

/** How long records and their bodies are kept. */

const tag = 'Retention';

const days = (description: string) =>
  nullable(Type.Integer({ minimum: 1, maximum: limits.retentionDaysMax }), description);

export const Retention = Type.Object(
  {
    recordsDays: days('Days that records are kept; `null` is for ever.'),
    bodiesDays: days(
      'Days that bodies (variables, prompts, output) are kept; `null` is as long as their record.',
    ),
  },
  { title: 'Retention', additionalProperties: false },
);
export type Retention = Static<typeof Retention>;

const agents = {
  recordsDays: days("Days that the agent's records are kept; `null` is what its workspace says."),
  bodiesDays: days('Days that their bodies are kept; `null` is what its workspace says.'),
};

export const AgentRetention = Type.Object(agents, { title: 'AgentRetention' });

export const AgentRetentionInput = Type.Partial(Type.Object(agents), {
  title: 'AgentRetentionInput',
  description: 'What is left out keeps what it has. Only an owner may change it.',
  additionalProperties: false,
});

export const getRetention = endpoint({
  id: 'getRetention',
  method: 'GET',
  path: '/api/v1/retention',
  summary: 'Read how long records are kept',
  tag,
  auth: 'manage',
  session: 'read',
  answers: { 200: Retention },
});

export const setRetention = endpoint({
  id: 'setRetention',
  method: 'PUT',
  path: '/api/v1/retention',
  summary: 'Set how long records are kept',
  description:
    'For all agents that do not say otherwise. Days count from when a call was accepted or refused. What is over by that goes within minutes, and nothing brings it back; the statistics stay.',
  tag,
  auth: 'owner',
  body: body('RetentionInput', Retention.properties),
  answers: { 200: Retention },
});
