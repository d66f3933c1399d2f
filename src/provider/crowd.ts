import type { Agent } from 'undici';

/** As many agents as the calls under way need, none of them with more than `agentCallsMax`. */
export interface Crowd {
  /** Lends the first agent that has room, so that connections are used again. */
  through<T>(work: (agent: Agent) => Promise<T>): Promise<T>;
  /** Cuts what is still in flight. */
  close(): Promise<void>;
}

/**
 * An agent looks through all its connections whenever one is made or closed. That grows with their square: ten thousand,
 * closed together, held a process up for fifteen seconds, so that it lost its lease and made all its calls anew.
 */
export const agentCallsMax = 200;

export function crowd(make: () => Agent): Crowd {
  const members: { readonly agent: Agent; calls: number }[] = [];

  function withRoom() {
    const found = members.find(({ calls }) => calls < agentCallsMax);
    if (found) return found;
    const member = { agent: make(), calls: 0 };
    members.push(member);
    return member;
  }

  return {
    async through(work) {
      const member = withRoom();
      member.calls++;
      try {
        return await work(member.agent);
      } finally {
        member.calls--;
      }
    },
    async close() {
      await Promise.all(members.map(({ agent }) => agent.destroy()));
    },
  };
}
