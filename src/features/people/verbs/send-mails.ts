import type { SendMail } from '../../../core/people/mail.ts';
import type { Db } from '../../../db/database.ts';
import { claimMails, deleteMail, isLastAttempt } from '../statements/mails.ts';

const claimedMax = 10;

/** Sends what is due. A mail that fails is tried again, five times in all. */
export async function sendMails({
  db,
  send,
  onError,
}: {
  readonly db: Db;
  readonly send: SendMail;
  readonly onError: (error: unknown) => void;
}): Promise<void> {
  for (;;) {
    const mails = await claimMails(db, claimedMax);
    for (const mail of mails) {
      try {
        await send(mail);
      } catch (error) {
        onError(error);
        if (!isLastAttempt(mail)) continue;
      }
      await deleteMail(db, mail.id);
    }
    if (mails.length < claimedMax) return;
  }
}
