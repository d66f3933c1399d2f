/** The audit log: changes of permissions, retention, prompts and agents, sign-ins and exports. */

export const auditActions = [
  'prompt.create',
  'prompt.change',
  'prompt.archive',
  'prompt.restore',
  'prompt.version',
  'agent.create',
  'agent.change',
  'agent.move',
  'agent.pin',
  'agent.delete',
  'key.issue',
  'key.change',
  'key.rotate',
  'key.revoke',
  'member.change',
  'member.remove',
  'member.join',
  'invitation.create',
  'invitation.delete',
  'provider.put',
  'provider.delete',
  'provider.test',
  'price.put',
  'price.delete',
  'workspace.change',
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
  'endpoint.create',
  'endpoint.change',
  'endpoint.rotate',
  'endpoint.disable',
  'endpoint.delete',
  'endpoint.test',
  'endpoint.resend',
  'endpoint.replay',
  'toolServer.create',
  'toolServer.change',
  'toolServer.rotate',
  'toolServer.check',
  'toolServer.try',
  'toolServer.delete',
  'alert.create',
  'alert.change',
  'alert.delete',
  'budget.create',
  'budget.change',
  'budget.delete',
  'batch.upload',
  'batch.cancel',
  'execution.delete',
  'execution.export',
  'erasure.request',
  'erasure.complete',
  'session.create',
  'session.refuse',
  'password.change',
  'password.reset',
  'secret.rotate',
] as const;
export type AuditAction = (typeof auditActions)[number];

/** Who made the change. Without user and key: the command line, or else the service itself. */
export interface Actor {
  readonly workspaceId: string;
  readonly userId: string | null;
  readonly apiKeyId: string | null;
  /** A command that opened the database: the person who ran it is not known. */
  readonly via?: typeof commandLine;
}

export const commandLine = 'command line' as const;

export interface AuditEntry {
  readonly action: AuditAction;
  /** The wire identifier or name of the changed object. */
  readonly subject: string;
  /** Names, numbers and settings; never a secret, never a value that is being erased. */
  readonly details?: Readonly<Record<string, unknown>>;
  /** The same, but deleted after `personalDays`. */
  readonly personal?: Readonly<Record<string, string | null>>;
}

/** Days for which audit entries, accepted and expired invitations and sign-in attempts keep addresses of people. */
export const personalDays = 90;

export function actorOf(caller: {
  readonly kind: 'key' | 'session' | 'workflow';
  readonly id: string;
  readonly workspaceId: string;
  readonly userId: string | null;
  readonly via?: typeof commandLine;
}): Actor {
  const { kind, id, workspaceId, userId } = caller;
  if (caller.via === commandLine) return commandActor(workspaceId);
  return { workspaceId, userId, apiKeyId: kind === 'key' ? id : null };
}

/** The actor of automatic changes. */
export function serviceActor(workspaceId: string): Actor {
  return { workspaceId, userId: null, apiKeyId: null };
}

/** The actor of changes by a command that opens the database. */
export function commandActor(workspaceId: string): Actor {
  return { ...serviceActor(workspaceId), via: commandLine };
}
