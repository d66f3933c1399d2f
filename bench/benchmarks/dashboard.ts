import { openBrowser } from '../../test/dashboard/chromium.ts';
import type { Benchmark } from '../benchmark.ts';
import { type Fixture, openFixture } from '../dashboard/fixture.ts';
import { type View, type Visit, visitTwice } from '../dashboard/visit.ts';
import { figure, figures } from '../goals.ts';
import { spread } from '../rounds.ts';
import { hundredths, milliseconds, type Table, whole, withRange } from '../table.ts';

/** Not counted: the server and the browser have yet to compile what is hot. */
const warmUps = 1;

export const dashboard: Benchmark = {
  name: 'dashboard',
  description:
    'Pages of the dashboard in a real Chromium, as the first that is opened: from the beginning of the navigation until ' +
    'the content (the form, the rows, or the words that there are none) has been painted, by the clock of the page. Cold ' +
    'is a browser that has never been there; warm the same once more in a new tab. All pages in alternation; the ratio is ' +
    'that of the long history to the empty one, round by round. JavaScript as it is sent, compressed, until then.',
  goal: 'content within 1 s, at most 180 kB of JavaScript for the first page, and a long history as quickly as an empty one',
  goalChecks: ([table]) => [
    {
      what: 'the slowest page',
      unit: 'ms',
      value: Math.max(...figures(table, 1, ratioRow), ...figures(table, 2, ratioRow)),
      most: 1_000,
    },
    {
      what: 'JavaScript of the first page',
      unit: 'kB',
      // The sign-in, or the agents of the signed-in user.
      value: Math.max(...figures(table, 3).slice(0, 2)),
      most: 180,
    },
    {
      what: 'the long history to the empty one, cold',
      unit: '×',
      value: figure(table, ratioRow, 1),
      most: 1,
    },
    {
      what: 'the long history to the empty one, warm',
      unit: '×',
      value: figure(table, ratioRow, 2),
      most: 1,
    },
  ],
  byDefault: false,
  runs: 100_000,
  async run(environment, { rounds, runs, note }) {
    const fixture = await openFixture(environment, runs);
    const browser = await openBrowser();
    try {
      note(`Chromium ${browser.version()}, ${whole(runs)} records`);
      const views = viewsOf(fixture, runs);
      const seen = views.map((view) => ({ view, cold: [] as Visit[], warm: [] as Visit[] }));
      for (let round = -warmUps; round < rounds; round++) {
        for (const { view, cold, warm } of seen) {
          const visits = await visitTwice(browser, fixture, view);
          if (round < 0) continue;
          cold.push(visits.cold);
          warm.push(visits.warm);
        }
      }
      return [tableOf(seen, browser.version())];
    } finally {
      await browser.close();
      await fixture.close();
    }
  },
};

const ratioRow = 'the long history to the empty one, ×';
const rows = 'tbody [data-row-link]';

function viewsOf({ longAgentId, emptyAgentId }: Fixture, records: number): readonly View[] {
  return [
    { name: 'sign-in', path: '/sign-in', content: 'input[type=password]', signedIn: false },
    { name: 'agents, 1,002 of them', path: '/agents', content: rows, signedIn: true },
    {
      name: `history, ${whole(records)} records`,
      path: `/agents/${longAgentId}/history`,
      content: rows,
      signedIn: true,
    },
    {
      name: 'history, empty',
      path: `/agents/${emptyAgentId}/history`,
      content: 'h2',
      text: 'No executions yet',
      signedIn: true,
    },
  ];
}

interface Seen {
  readonly view: View;
  readonly cold: readonly Visit[];
  readonly warm: readonly Visit[];
}

function tableOf(seen: readonly Seen[], browser: string): Table {
  const times = (visits: readonly Visit[]) =>
    withRange(spread(visits.map(({ contentMs }) => contentMs)), milliseconds);
  const [long, empty] = seen.slice(-2);
  const ratio = (which: 'cold' | 'warm') =>
    withRange(
      spread(
        (long?.[which] ?? []).map(
          ({ contentMs }, round) => contentMs / (empty?.[which][round]?.contentMs ?? 1),
        ),
      ),
      hundredths,
    );
  return {
    columns: ['page', 'cold', 'warm', 'JavaScript'],
    rows: [
      ...seen.map(({ view, cold, warm }) => [
        view.name,
        times(cold),
        times(warm),
        kilobytes(spread(cold.map(({ scriptBytes }) => scriptBytes)).median),
      ]),
      [ratioRow, ratio('cold'), ratio('warm'), ''],
    ],
    notes: [`Chromium ${browser}.`],
  };
}

const kilobytes = (bytes: number) => `${whole(bytes / 1_000)} kB`;
