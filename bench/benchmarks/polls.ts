import { type Benchmark, fromEach } from '../benchmark.ts';
import { bare } from '../contenders/bare.ts';
import { pollExchange, polled } from '../contenders/polled.ts';
import { figure } from '../goals.ts';
import { answered } from './accept.ts';

const ceiling = bare('bare node:http', 'bare-node.ts', pollExchange);

export const polls: Benchmark = {
  name: 'polls',
  description:
    'Answers per second to callers that ask for the status of a run which has ended, against a server that answers the ' +
    'same bytes and asks nobody. Key, agent and record are read for each call; of calls that come together, together.',
  goal: 'from many callers at least the share of bare node:http that `api` reaches in `accept`',
  goalChecks: ([, many], measured) => {
    const [accept] = measured.get('accept') ?? [];
    if (!accept) return [];
    const value = figure(many, 'Cueline, `start`', 2);
    return [{ what: 'of bare node:http', value, least: figure(accept, 'Cueline, `api`', 2) }];
  },
  byDefault: true,
  async run(environment, how) {
    return fromEach([1, how.connections], how, (each) =>
      answered(environment, [ceiling, polled], each, 'answers'),
    );
  },
};
