import type { Role } from '../../../core/people/member.ts';
import { statementTime } from '../../../db/clock.ts';
import type { Db, Trx } from '../../../db/database.ts';
import { sql } from '../../../db/sql.ts';

/** Users, their passwords and sessions. better-auth reads and writes the same tables. */

export interface UserRow {
  readonly id: string;
  readonly email: string;
  readonly name: string;
}

/** The provider id of password accounts in better-auth. Their `account_id` is the id of the user. */
const passwordProvider = 'credential';

export async function findUser(db: Db, userId: string): Promise<UserRow | null> {
  const { rows } = await sql<UserRow>`
    select id, email, name from users where id = ${userId}`.execute(db);
  return rows[0] ?? null;
}

/** The address must be in lower case. */
export async function findUserByEmail(db: Db, email: string): Promise<UserRow | null> {
  const { rows } = await sql<UserRow>`
    select id, email, name from users where email = ${email}`.execute(db);
  return rows[0] ?? null;
}

/** False if the address has an account already. */
export async function createUser(
  trx: Trx,
  user: UserRow & { readonly emailVerified: boolean },
): Promise<boolean> {
  const { rowCount } = await sql`
    insert into users (id, email, name, email_verified)
    values (${user.id}, ${user.email}, ${user.name}, ${user.emailVerified})
    on conflict (email) do nothing`.execute(trx);
  return rowCount === 1;
}

/** Sets or replaces the password of a user. `id` is used for a new row. */
export async function setPassword(
  trx: Trx,
  password: {
    readonly id: string;
    readonly userId: string;
    readonly hash: string;
    /** Whether Cueline generated and printed it. */
    readonly generated?: boolean;
  },
): Promise<void> {
  const { id, userId, hash, generated = false } = password;
  await sql`
    insert into accounts (id, user_id, provider_id, account_id, password, generated_password)
    values (${id}, ${userId}, ${passwordProvider}, ${userId}, ${hash}, ${generated ? hash : null})
    on conflict (provider_id, account_id) do update set password = excluded.password,
      generated_password = excluded.generated_password, updated_at = clock_timestamp()`.execute(
    trx,
  );
}

export async function hasPassword(db: Db, userId: string): Promise<boolean> {
  const { rows } = await sql`
    select from accounts where user_id = ${userId} and provider_id = ${passwordProvider}`.execute(
    db,
  );
  return rows.length > 0;
}

/** Whether the user still has the generated password. */
export async function hasGeneratedPassword(db: Db, userId: string): Promise<boolean> {
  const { rows } = await sql`
    select from accounts where user_id = ${userId} and provider_id = ${passwordProvider}
      and password = generated_password`.execute(db);
  return rows.length > 0;
}

/** The maximum number of sessions per user. A further sign-in ends the least recently used session. */
const sessionsMax = 100;

/** The IP addresses of the sessions of a user, newest first. @param account the id, or the e-mail address in lower case */
export async function sessionAddresses(db: Db, account: string): Promise<string[]> {
  const userId = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/.test(account) ? account : null;
  const { rows } = await sql<{ ipAddress: string }>`
    select ip_address from sessions
    where user_id = coalesce(${userId}::uuid, (select id from users where email = ${account}))
      and ip_address is not null and expires_at > clock_timestamp()
    order by updated_at desc limit ${sessionsMax}`.execute(db);
  return rows.map(({ ipAddress }) => ipAddress);
}

/** Ends all sessions of a user. */
export async function deleteSessions(trx: Trx, userId: string): Promise<void> {
  await sql`delete from sessions where user_id = ${userId}`.execute(trx);
}

/** Deletes a user, with their password, sessions, linked accounts and memberships. */
export async function deleteUser(trx: Trx, userId: string): Promise<void> {
  await sql`delete from users where id = ${userId}`.execute(trx);
}

/** Deletes up to `limit` expired sessions, which hold addresses of people. Returns how many. */
export async function deleteExpiredSessions(db: Db, limit: number): Promise<number> {
  const { rowCount } = await sql`
    delete from sessions where id in (
      select id from sessions where expires_at < ${statementTime}
      order by expires_at limit ${limit} for update skip locked)`.execute(db);
  return rowCount;
}

/** Deletes expired and excess sessions of a user. */
export async function trimSessions(db: Db, userId: string): Promise<void> {
  await sql`
    delete from sessions where id in (
      select id from sessions where user_id = ${userId} and id not in (
        select id from sessions where user_id = ${userId} and expires_at > clock_timestamp()
        order by updated_at desc, id desc limit ${sessionsMax})
      for update skip locked)`.execute(db);
}

export interface UserWithWorkspaces extends UserRow {
  readonly createdAt: Date;
  readonly workspaces: readonly {
    readonly workspaceId: string;
    readonly name: string;
    readonly role: Role;
  }[];
}

/** All users with their workspaces. */
export async function listUsers(db: Db): Promise<UserWithWorkspaces[]> {
  const { rows } = await sql<UserWithWorkspaces>`
    select u.id, u.email, u.name, u.created_at, coalesce(
      jsonb_agg(jsonb_build_object('workspaceId', w.id, 'name', w.name, 'role', m.role)
        order by m.created_at, w.id) filter (where w.id is not null), '[]') as workspaces
    from users u
    left join members m on m.user_id = u.id
    left join workspaces w on w.id = m.workspace_id
    group by u.id order by u.email`.execute(db);
  return rows;
}
