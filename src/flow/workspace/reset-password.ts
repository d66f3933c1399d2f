import { CallFailure } from '../../core/failure.ts';
import { uuid7 } from '../../core/id.ts';
import { generatePassword, type HashPassword } from '../../core/people/token.ts';
import { readClock } from '../../store/connection/clock.ts';
import type { Db } from '../../store/connection/database.ts';
import { deleteSessions, findUserByEmail, setPassword } from '../../store/people/users.ts';

/**
 * Resets the password of a user and signs them out everywhere. Without `password` it generates one and returns it; it is
 * not stored in plain text, so show it now.
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
  await db.transaction().execute(async (trx) => {
    const id = uuid7(await readClock(trx));
    await setPassword(trx, { id, userId: user.id, hash, generated: generated !== null });
    await deleteSessions(trx, user.id);
  });
  return { password: generated };
}
