import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { startService } from '../../harness/service.ts';
import { openBrowser, releaseBrowser } from './chromium.ts';
import { axeViolations, collectProblems, settled, timeoutMs } from './harness.ts';

const service = await startService();
const browser = await openBrowser();
after(async () => {
  await releaseBrowser(browser);
  await service.close();
});

type Scheme = 'light' | 'dark';

/** `problems` are errors and warnings of the browser, and each request to another origin, blocked or not. */
async function openReference(colorScheme: Scheme, width: number) {
  const context = await browser.newContext({
    baseURL: service.url,
    colorScheme,
    viewport: { width, height: 900 },
    reducedMotion: 'reduce',
  });
  after(() => context.close());
  context.setDefaultTimeout(timeoutMs);
  const page = await context.newPage();
  const problems = collectProblems(page, service.url);
  await page.goto('/docs');
  await page.getByRole('heading', { name: 'Cueline', exact: true }).waitFor();
  await page.getByRole('heading', { name: 'Execute an agent', exact: true }).waitFor();
  await settled(page);
  return { page, problems };
}

const windows: readonly (readonly [Scheme, number])[] = [
  ['light', 1440],
  ['dark', 390],
];
for (const [scheme, width] of windows) {
  test(`the reference is accessible, fits, and asks only this server: ${scheme}, ${width} px`, async () => {
    const { page, problems } = await openReference(scheme, width);
    const ground = await page.evaluate<string>('getComputedStyle(document.body).backgroundColor');
    const [red = 0] = (/\d+/.exec(ground) ?? []).map(Number);
    assert.equal(red > 128 ? 'light' : 'dark', scheme, ground);
    assert.deepEqual(await axeViolations(page, {}), []);
    assert.equal(await page.evaluate('document.documentElement.scrollWidth'), width);
    assert.deepEqual(problems, []);
  });
}

test('an operation shows its parameters, who may call it, and its examples', async () => {
  const { page, problems } = await openReference('dark', 1440);
  await page.getByRole('link', { name: /^Export an agent's executions/ }).click();
  await page.getByRole('heading', { name: "Export an agent's executions", exact: true }).waitFor();
  await page.waitForURL(/#.*\/export$/);
  const operation = page.getByRole('region', { name: "Export an agent's executions" });
  await operation.getByText('Path Parameters').first().waitFor();
  await operation.getByText('Needs an API key with').first().waitFor();
  await operation.getByText(/^curl/).first().waitFor();
  await settled(page);
  // The viewer uses the same names for the responses of all operations.
  const rules = { 'landmark-unique': { enabled: false } };
  assert.deepEqual(await axeViolations(page, { rules }), []);
  assert.equal(await page.getByRole('button', { name: /^(Test Request|Ask AI)/ }).count(), 0);
  assert.deepEqual(problems, []);
});
