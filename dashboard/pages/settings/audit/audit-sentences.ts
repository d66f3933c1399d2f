import type { AuditAction, AuditEntry } from '../../../data/workspace/audit.ts';

type Predicate = string | ((entry: AuditEntry) => string);

const moves: Readonly<Record<string, string>> = {
  'enable-api': 'enabled the API of the agent {}',
  deploy: 'deployed the agent {}',
  rollback: 'moved the agent {} back to Testing',
  disable: 'paused the agent {}',
  're-enable': 'resumed the agent {}',
  archive: 'archived the agent {}',
  restore: 'restored the agent {}',
};

/** What follows the name of who acted; `{}` is the subject. */
const predicates: Record<AuditAction, Predicate> = {
  'prompt.create': 'created the prompt {}',
  'prompt.change': 'changed the prompt {}',
  'prompt.archive': 'archived the prompt {}',
  'prompt.restore': 'restored the prompt {}',
  'prompt.version': ({ details }) =>
    `saved ${text(details, 'promptVersionLabel') ?? 'a version'} of the prompt {}`,
  'agent.create': 'created the agent {}',
  'agent.change': 'changed settings of the agent {}',
  'agent.move': ({ details }) => moves[text(details, 'action') ?? ''] ?? 'moved the agent {}',
  'agent.pin': 'pinned another version for the agent {}',
  'agent.delete': 'deleted the agent {}',
  'key.issue': 'created the API key {}',
  'key.change': 'changed the API key {}',
  'key.rotate': 'rotated the API key {}',
  'key.revoke': 'revoked the API key {}',
  'member.change': ({ details }) =>
    `changed the role of {} from ${text(details, 'from')} to ${text(details, 'to')}`,
  'member.remove': ({ details, userId, subject }) => {
    if ('accountDeleted' in details) return 'deleted their account';
    return userId === subject ? 'left the workspace' : 'removed {} from the workspace';
  },
  'member.join': ({ details }) => `joined the workspace as ${text(details, 'role') ?? 'a member'}`,
  'invitation.create': ({ details }) => {
    const role = text(details, 'role');
    return role ? `invited {} as ${role}` : 'invited {}';
  },
  'invitation.delete': 'revoked the invitation {}',
  'provider.put': 'saved the provider {}',
  'provider.delete': 'deleted the provider {}',
  'provider.test': 'tested the provider {}',
  'price.put': 'set a price for {}',
  'price.delete': 'deleted the price of {}',
  'workspace.change': 'renamed {}',
  'plan.change': 'changed the plan of {}',
  'retention.change': 'changed the retention of {}',
  'workflow.create': 'created the workflow {}',
  'workflow.change': 'changed the workflow {}',
  'workflow.pin': 'pinned another version of the workflow {}',
  'workflow.delete': 'deleted the workflow {}',
  'schedule.create': 'created the schedule {}',
  'schedule.change': 'changed the schedule {}',
  'schedule.delete': 'deleted the schedule {}',
  'webhook.create': 'created the webhook {}',
  'webhook.rotate': 'rotated the secret of the webhook {}',
  'webhook.delete': 'deleted the webhook {}',
  'endpoint.create': 'created the endpoint {}',
  'endpoint.change': 'changed the endpoint {}',
  'endpoint.rotate': 'rotated the secret of the endpoint {}',
  'endpoint.disable': 'disabled the endpoint {}',
  'endpoint.delete': 'deleted the endpoint {}',
  'endpoint.test': 'tested the endpoint {}',
  'endpoint.resend': 'sent an event to the endpoint {} again',
  'endpoint.replay': 'replayed events to the endpoint {}',
  'toolServer.create': 'created the tool server {}',
  'toolServer.change': 'changed the tool server {}',
  'toolServer.rotate': 'rotated the secret of the tool server {}',
  'toolServer.check': 'checked the tool server {}',
  'toolServer.try': ({ details }) =>
    `called ${text(details, 'tool') ?? 'a tool'} of the tool server {} by hand`,
  'toolServer.delete': 'deleted the tool server {}',
  'alert.create': 'created the alert {}',
  'alert.change': 'changed the alert {}',
  'alert.delete': 'deleted the alert {}',
  'budget.create': 'created the budget {}',
  'budget.change': 'changed the budget {}',
  'budget.delete': 'deleted the budget {}',
  'batch.upload': 'uploaded the batch {}',
  'batch.cancel': 'canceled the batch {}',
  'execution.delete': 'deleted the record {}',
  'execution.export': 'exported executions of {}',
  'erasure.request': 'requested the erasure {}',
  'erasure.complete': 'completed the erasure {}',
  'session.create': 'signed in',
  'session.refuse': 'failed to sign in as {}',
  'password.change': ({ userId, subject }) =>
    userId === subject ? 'changed their password' : 'changed the password of {}',
  'password.reset': ({ userId, subject }) =>
    userId === subject ? 'reset their password' : 'reset the password of {}',
  'secret.rotate': "rotated the server's secret",
};

/** The words before and after the subject; the second is null if the sentence does not name it. */
export function predicateOf(entry: AuditEntry): readonly [string, string | null] {
  // A newer server may have actions that this page does not know.
  const predicate: Predicate = predicates[entry.action] ?? `${entry.action} {}`;
  const words = typeof predicate === 'string' ? predicate : predicate(entry);
  const [before = '', after = null] = words.split('{}');
  return [before, after];
}

/** Who acted, if it was not a member. */
export function actorWithoutUser({ action, via }: AuditEntry): string {
  if (via !== null) return 'The command line';
  return action === 'session.refuse' ? 'Someone' : 'Cueline';
}

/** The name that the entry itself holds for its subject. */
export function recordedName({ details }: AuditEntry): string | undefined {
  return text(details, 'name') ?? text(details, 'agentName') ?? text(details, 'email');
}

function text(details: AuditEntry['details'], name: string): string | undefined {
  const value = (details as Readonly<Record<string, unknown>>)[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
}
