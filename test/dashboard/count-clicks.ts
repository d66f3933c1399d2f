import type { Page } from 'playwright-core';

/**
 * Counts what a user does from now on: presses of the pointer and of Enter. Typing and looking are free. Navigation within
 * the dashboard keeps the count, a reload loses it.
 */
export async function countClicks(page: Page): Promise<() => Promise<number>> {
  await page.evaluate(`
    window.clicks = 0;
    addEventListener('pointerdown', () => { window.clicks += 1; }, true);
    addEventListener('keydown', ({ key }) => { if (key === 'Enter') window.clicks += 1; }, true);
  `);
  return async () => Number(await page.evaluate('window.clicks'));
}
