import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Job, Load } from './job.ts';

/** The process of the load generator. It lives for a whole benchmark, so that its code stays compiled. */
export interface Generator {
  run(job: Job): Promise<Load>;
  close(): void;
}

export function startGenerator(): Generator {
  const child = fork(join(import.meta.dirname, 'process.ts'));
  return {
    async run(job) {
      child.send(job);
      const [answer] = (await once(child, 'message')) as [{ load?: Load; error?: string }];
      if (!answer.load) throw new Error(`the load generator failed: ${answer.error}`);
      return answer.load;
    },
    close: () => void child.disconnect(),
  };
}
