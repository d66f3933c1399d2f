import { Type } from 'typebox';
import * as limits from '../../../http/contract/contract-limits.ts';
import { nullable } from '../../../http/contract/shared.ts';

export const days = (description: string) =>
  nullable(Type.Integer({ minimum: 1, maximum: limits.retentionDaysMax }), description);

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
