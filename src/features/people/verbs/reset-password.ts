import { CallFailure } from '../../../core/failure.ts';
import { uuid7 } from '../../../core/id.ts';
import { commandLine } from '../../../core/people/audit.ts';
import { generatePassword, type HashPassword } from '../../../core/people/token.ts';
import { readClock } from '../../../db/clock.ts';
import type { Db } from '../../../db/database.ts';
import { writeUserAudit } from '../statements/audit-statements.ts';
import { deleteSessions, findUserByEmail, setPassword } from '../statements/users.ts';

/**
 * Resets the password of a user on the command line and signs them out everywhere. Without `password` it generates one and
 * returns it; it is not stored in plain text, so show it now.
 */
export async function resetPassword(
  db: Db,
  email: string,
  hashPassword: HashPassword,
  password?: string,
): Promise<{ password: string | null }> {
  const generated = password === undefined ? generatePassword() : null;
  const user = await findUserByEmail(db, email.toLowerCase());
  if (!user) throw new CallFailure('NOT_FOUND', `There is no user with the address ${email}.`);
  const hash = await hashPassword(password ?? generated ?? '');
  await db.transaction(async (trx) => {
    const id = uuid7(await readClock(trx));
    await setPassword(trx, { id, userId: user.id, hash, generated: generated !== null });
    await deleteSessions(trx, user.id);
    const actor = { userId: null, apiKeyId: null, via: commandLine } as const;
    await writeUserAudit(trx, user, actor, { action: 'password.reset' });
  });
  return { password: generated };
}
