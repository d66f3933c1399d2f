/** What all charts have in common. */

export const tickStyle = { fill: 'var(--soft)', fontSize: 11 };

/** The horizontal axis. */
export const timeAxis = { tickLine: false, stroke: 'var(--line-strong)', tick: tickStyle };

/** The vertical axis of these ticks, from 0 to the last one. */
export function valueAxis(ticks: readonly number[], tickFormatter: (value: number) => string) {
  return {
    ...{ ticks: [...ticks], domain: [0, ticks.at(-1) ?? 1], tickFormatter, tick: tickStyle },
    ...{ width: 64, tickLine: false, axisLine: false, interval: 0 as const },
  };
}
