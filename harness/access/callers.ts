import { toId } from '../../src/core/id.ts';
import { generateKey, type Permission, permissions } from '../../src/core/people/key.ts';
import { addAgent } from '../agents.ts';
import { addMember, addWorkspace, type TestKey } from '../people.ts';
import type { AccessEnvironment } from './fixture.ts';

/** A kind of caller: a column of the table. */
export interface Caller {
  readonly name: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The stored id of the key, or of the user of the session. */
  readonly keyId: string | null;
  readonly userId: string | null;
  /** Belongs to another workspace. */
  readonly elsewhere: boolean;
  /** The resources of the workspace that this caller must not see. */
  readonly hidden: 'everything' | 'other agents' | 'private agents' | 'nothing';
}

export interface Callers {
  readonly all: readonly Caller[];
  /** Stored ids. */
  readonly elsewhereId: string;
  readonly editorId: string;
  readonly signedIn: readonly string[];
  /** A key with all permissions, and one that is restricted to the agents that the proof creates. */
  readonly fullKey: TestKey;
  readonly tiedKey: TestKey;
}

export async function makeCallers(environment: AccessEnvironment): Promise<Callers> {
  const { db, url, workspaceId, ownerId } = environment;
  const { workspaceId: elsewhereId, ownerId: strangerId } = await addWorkspace(db);
  const editorId = await addMember(db, workspaceId, 'editor');
  const viewerId = await addMember(db, workspaceId, 'viewer');
  const removedId = await addMember(db, workspaceId, 'editor');
  const signedIn = [viewerId, editorId, ownerId, strangerId, removedId];
  const cookies = new Map<string, string>();
  for (const userId of signedIn) cookies.set(userId, await environment.signIn(userId));

  const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
  const past = new Date('2020-01-01');
  const { agentId } = await addAgent(environment);
  const fullKey = await environment.key();
  const tiedKey = await environment.key({ agentIds: [agentId] });
  const ofRemoved = await environment.key({ userId: removedId });
  const removal = `${url}/api/v1/members/${toId('user', removedId)}`;
  await fetch(removal, { method: 'DELETE', headers: bearer(fullKey.key) });

  const anonymous = { keyId: null, userId: null, elsewhere: false, hidden: 'everything' } as const;
  const key = (name: string, { id, key }: TestKey, hidden: Caller['hidden']): Caller => ({
    ...{ name, headers: bearer(key), keyId: id, userId: null, elsewhere: false, hidden },
  });
  const only = async (permission: Permission) =>
    key(permission, await environment.key({ permissions: [permission] }), 'nothing');
  const session = (name: string, userId: string, hidden: Caller['hidden']): Caller => ({
    ...{ name, keyId: null, userId, elsewhere: false, hidden },
    headers: { cookie: cookies.get(userId) ?? '', origin: url },
  });
  const stranger = { ...session('elsewhere', strangerId, 'everything'), elsewhere: true };
  const here = { 'cueline-workspace': toId('workspace', workspaceId) };
  const strangerKey = await environment.key({ workspaceId: elsewhereId, userId: strangerId });

  const all: Caller[] = [
    { ...anonymous, name: 'none', headers: {} },
    { ...anonymous, name: 'malformed', headers: bearer('cue_nonsense') },
    { ...anonymous, name: 'unknown', headers: bearer(generateKey()) },
    key('revoked', await environment.key({ revokedAt: past }), 'everything'),
    key('expired', await environment.key({ expiresAt: past }), 'everything'),
    key('removed key', ofRemoved, 'everything'),
    { ...key('elsewhere key', strangerKey, 'everything'), elsewhere: true },
    key('other agent', await environment.key({ agentIds: [agentId] }), 'other agents'),
    key('this agent', tiedKey, 'private agents'),
    ...(await Promise.all(permissions.map(only))),
    key('all', fullKey, 'nothing'),
    key("editor's key", await environment.key({ userId: editorId }), 'private agents'),
    key("viewer's key", await environment.key({ userId: viewerId }), 'private agents'),
    session('viewer', viewerId, 'private agents'),
    session('editor', editorId, 'private agents'),
    session('owner', ownerId, 'nothing'),
    stranger,
    { ...stranger, name: 'intruder', headers: { ...stranger.headers, ...here } },
    session('removed', removedId, 'everything'),
  ];
  return { all, elsewhereId, editorId, signedIn, fullKey, tiedKey };
}
