import { openBrowser } from '../../test/dashboard/chromium.ts';
import type { Benchmark } from '../benchmark.ts';
import { type Fixture, openFixture } from '../dashboard/fixture.ts';
import { type View, type Visit, visitTwice } from '../dashboard/visit.ts';
import { figure, figures } from '../goals.ts';
import { spread } from '../rounds.ts';
import { hundredths, milliseconds, type Table, whole, withRange } from '../table.ts';

/** The server and the browser compile hot code in these rounds. */
const warmUps = 1;

export const dashboard: Benchmark = {
  name: 'dashboard',
  description:
    'Dashboard pages in a real Chromium, each as the first page: from the start of the navigation until the content (form, ' +
    'rows or empty state) is painted, by the clock of the page. Cold: an empty browser cache. Warm: the same browser in a ' +
    'new tab. Pages alternate; the ratio compares the long history with the empty one, round by round. JavaScript: ' +
    'compressed bytes until then.',
  goal: 'content within 1 s, at most 180 kB of JavaScript for the first page, and a long history as fast as an empty one',
  goalChecks: ([table]) => [
    {
      what: 'slowest page',
      unit: 'ms',
      value: Math.max(...figures(table, 1, ratioRow), ...figures(table, 2, ratioRow)),
      most: 1_000,
    },
    {
      what: 'JavaScript of the first page',
      unit: 'kB',
      // The sign-in page, or the agents of a signed-in user.
      value: Math.max(...figures(table, 3).slice(0, 2)),
      most: 180,
    },
    {
      what: 'long history to empty history, cold',
      unit: '×',
      value: figure(table, ratioRow, 1),
      most: 1,
    },
    {
      what: 'long history to empty history, warm',
      unit: '×',
      value: figure(table, ratioRow, 2),
      most: 1,
    },
  ],
  byDefault: false,
  executions: 100_000,
  async run(environment, { rounds, executions, note }) {
    const fixture = await openFixture(environment, executions);
    const browser = await openBrowser();
    try {
      note(`Chromium ${browser.version()}, ${whole(executions)} records`);
      const views = viewsOf(fixture, executions);
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

const ratioRow = 'long history to empty history, ×';
const rows = 'tbody [data-row-link]';

function viewsOf({ longAgentId, emptyAgentId }: Fixture, records: number): readonly View[] {
  return [
    { name: 'sign-in', path: '/sign-in', content: 'input[type=password]', signedIn: false },
    { name: '1,002 agents', path: '/agents', content: rows, signedIn: true },
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
