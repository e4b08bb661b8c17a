// A dashboard over a Redis of its own, with known queues, and a browser in front of it.
import { execFileSync, spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';

const here = dirname(fileURLToPath(import.meta.url));
const axe = createRequire(import.meta.url)('axe-core').source;

/** Runs PHP with the built extension and returns what it prints. */
export function php(code) {
  return execFileSync(process.env.PHP, ['-r', code], { encoding: 'utf8' });
}

export function seed() {
  execFileSync(process.env.PHP, ['-d', 'delayqueue.testing=1', join(here, 'seed.php')]);
}

/** Starts `delayqueue dashboard` and resolves to { url, stop }. */
export async function dashboard(...options) {
  const port = 20000 + Math.floor(Math.random() * 20000);
  const child = spawn(process.env.PHP, [join(here, '../../php/bin/delayqueue'), 'dashboard', `--listen=127.0.0.1:${port}`, '--journal', `--database=${process.env.JOURNAL}`, ...options], { stdio: ['ignore', 'pipe', 'inherit'] });
  const url = await new Promise((resolve, reject) => {
    child.stdout.once('data', (data) => resolve(String(data).trim().replace(/\/$/, '')));
    child.once('exit', (code) => reject(new Error(`delayqueue dashboard ended with ${code}`)));
  });
  await until(async () => (await fetch(`${url}/style.css`).catch(() => null))?.ok, 'the dashboard answers');
  return {
    url,
    stop: () => new Promise((resolve) => {
      child.once('exit', resolve);
      child.kill('SIGTERM');
    }),
  };
}

export function browser() {
  return chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox'] });
}

/** A page that remembers what the browser complains of: errors of scripts, and of the content security policy. */
export async function open(browser, options = {}) {
  const page = await browser.newPage({ viewport: { width: 1200, height: 800 }, ...options });
  page.complaints = [];
  page.on('console', (message) => ['error', 'warning'].includes(message.type()) && page.complaints.push(message.text()));
  page.on('pageerror', (error) => page.complaints.push(String(error)));
  page.on('dialog', (dialog) => page.complaints.push(`a dialog: ${dialog.message()}`) && dialog.dismiss());
  return page;
}

/** The findings of axe-core, as texts: of these rules, or of all. */
export async function violations(page, rules) {
  const options = rules === undefined ? '' : JSON.stringify({ runOnly: rules });
  const { violations } = await page.evaluate(`${axe}; axe.run(${options})`);
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 150)).join(' | ')}`);
}

export async function until(holds, what, seconds = 30) {
  for (const end = Date.now() + 1000 * seconds; Date.now() < end; await new Promise((resolve) => setTimeout(resolve, 50))) {
    if (await holds()) {
      return;
    }
  }
  throw new Error(`it did not come to pass: ${what}`);
}

export const PAGES = {
  queues: '/',
  queue: '/queue?queue=orders&state=delayed',
  buried: '/queue?queue=mails&state=buried',
  errors: '/errors?queue=mails',
  job: '/job?queue=orders&id=order-1',
  life: '/job?queue=mails&id=mail-2',
  journal: '/journal?contains=SMTP',
  groups: '/groups?queue=imports',
  schedules: '/schedules',
  workers: '/workers',
  health: '/health',
};
