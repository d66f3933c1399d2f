/** The audit log: changes of permissions, retention, and agents. */

export const auditActions = [
  'agent.create',
  'agent.change',
  'agent.move',
  'agent.pin',
  'agent.delete',
  'key.issue',
  'key.rotate',
  'key.revoke',
  'member.change',
  'member.remove',
  'member.join',
  'invitation.create',
  'invitation.delete',
  'provider.put',
  'provider.delete',
  'plan.change',
  'retention.change',
  'workflow.create',
  'workflow.change',
  'workflow.pin',
  'workflow.delete',
  'schedule.create',
  'schedule.change',
  'schedule.delete',
  'webhook.create',
  'webhook.rotate',
  'webhook.delete',
  'execution.delete',
  'erasure.request',
  'erasure.complete',
] as const;
export type AuditAction = (typeof auditActions)[number];

/** Who made the change. Both null: the service itself, or the command line. */
export interface Actor {
  readonly workspaceId: string;
  readonly userId: string | null;
  readonly apiKeyId: string | null;
}

export interface AuditLine {
  readonly action: AuditAction;
  /** The wire identifier or name of the changed object. */
  readonly subject: string;
  /** Names, numbers and settings; never a secret, never a value that is being erased. */
  readonly details?: Readonly<Record<string, unknown>>;
}

export function actorOf(caller: {
  readonly kind: 'key' | 'session' | 'workflow';
  readonly id: string;
  readonly workspaceId: string;
  readonly userId: string | null;
}): Actor {
  const { kind, id, workspaceId, userId } = caller;
  return { workspaceId, userId, apiKeyId: kind === 'key' ? id : null };
}

/** The actor of automatic changes. */
export function serviceActor(workspaceId: string): Actor {
  return { workspaceId, userId: null, apiKeyId: null };
}
