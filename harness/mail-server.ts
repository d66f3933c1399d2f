import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';

/** A real SMTP server on a socket of its own. */
export interface MailServer {
  readonly url: string;
  /** The mails so far. */
  readonly mails: ReceivedMail[];
  /** Resolves once so many mails have arrived. */
  received(count: number): Promise<ReceivedMail[]>;
  /** Whether it rejects messages from now on. */
  isRejecting: boolean;
  close(): Promise<void>;
}

export interface ReceivedMail {
  readonly from: string;
  readonly to: readonly string[];
  /** Headers and body, with unfolded lines. */
  readonly text: string;
}

export async function startMailServer(): Promise<MailServer> {
  const mails: ReceivedMail[] = [];
  const waiting: (() => void)[] = [];
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onData(stream, session, callback) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        if (mailServer.isRejecting) return callback(new Error('try again later'));
        const { mailFrom, rcptTo } = session.envelope;
        mails.push({
          from: mailFrom === false ? '' : mailFrom.address,
          to: rcptTo.map(({ address }) => address),
          text: unfolded(Buffer.concat(chunks).toString()),
        });
        callback();
        for (const check of waiting) check();
      });
    },
  });
  server.listen(0, '127.0.0.1');
  await once(server.server, 'listening');
  const mailServer: MailServer = {
    url: `smtp://127.0.0.1:${(server.server.address() as AddressInfo).port}`,
    mails,
    received(count) {
      const { promise, resolve } = Promise.withResolvers<ReceivedMail[]>();
      const check = () => mails.length >= count && resolve(mails.slice(0, count));
      waiting.push(check);
      check();
      return promise;
    },
    isRejecting: false,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
  return mailServer;
}

/** Undoes the line breaks of quoted-printable and of headers. */
function unfolded(text: string): string {
  return text
    .replaceAll('=\r\n', '')
    .replace(/\r\n[ \t]+/g, ' ')
    .replaceAll('=3D', '=')
    .replaceAll('\r\n', '\n');
}
