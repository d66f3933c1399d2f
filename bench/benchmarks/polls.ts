import { type Benchmark, forEachClientCount } from '../benchmark.ts';
import { bare } from '../contenders/bare.ts';
import { pollExchange, polled } from '../contenders/polled.ts';
import { figure } from '../goals.ts';
import { measureResponses } from './accept.ts';

const ceiling = bare('bare node:http', 'bare-node.ts', pollExchange);

export const polls: Benchmark = {
  name: 'polls',
  description:
    'Responses per second to clients that poll the status of an ended execution, compared with a server that sends the ' +
    'same bytes without a database. Each call reads key, agent and record; concurrent calls share their reads.',
  goal: 'with many clients at least the share of bare node:http that `api` reaches in `accept`',
  goalChecks: ([, many], measured) => {
    const [accept] = measured.get('accept') ?? [];
    if (!accept) return [];
    const value = figure(many, 'Cueline, `start`', 2);
    return [{ what: 'of bare node:http', value, least: figure(accept, 'Cueline, `api`', 2) }];
  },
  byDefault: true,
  async run(environment, options) {
    return forEachClientCount([1, options.connections], options, (each) =>
      measureResponses(environment, [ceiling, polled], each, 'responses'),
    );
  },
};
