// The dashboard in a real browser: what people see, and what a click does in Redis.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { PAGES, browser, dashboard, open, php, seed, until, violations } from './support.mjs';

let chromium;
let site;

before(async () => {
  seed();
  [chromium, site] = await Promise.all([browser(), dashboard()]);
});
after(async () => {
  await chromium?.close();
  await site?.stop();
});

const peek = (queue, id) => JSON.parse(php(`$job = (new DelayQueue('${queue}'))->peek('${id}'); echo json_encode($job === null ? null : ['state' => $job->state, 'body' => $job->body, 'dueIn' => $job->dueAt - microtime(true)]);`));

async function visit(path, options = {}) {
  const page = await open(chromium, options);
  const answer = await page.goto(site.url + path);
  assert.equal(answer.status(), 200, path);
  return page;
}

for (const [name, path] of Object.entries(PAGES)) {
  test(`${name}: nothing is inaccessible, nothing breaks the policy, and nothing is wider than a telephone`, async () => {
    const page = await visit(path, { colorScheme: 'light' });
    assert.deepEqual(await violations(page), [], `${name}, light`);
    await page.emulateMedia({ colorScheme: 'dark' });
    assert.deepEqual(await violations(page, ['color-contrast']), [], `${name}, dark`);
    await page.setViewportSize({ width: 360, height: 740 });
    assert.ok(await page.evaluate('document.documentElement.scrollWidth <= 360'), `${name} is wider than its window`);
    assert.deepEqual(page.complaints, []);
    await page.close();
  });
}

test('the journal finds a job that has ended, and shows its life', async () => {
  const page = await visit('/journal');
  await page.getByLabel('Queue').fill('mails');
  await page.getByLabel('State').selectOption('done');
  await page.getByRole('button', { name: 'Search' }).click();
  await page.getByRole('link', { name: 'mail-12' }).click();
  await page.getByText('There is no such job').waitFor();
  await page.getByRole('row', { name: /^1 .* done / }).waitFor();
  await page.close();
});

test('stored texts stay texts', async () => {
  for (const path of ['/', '/queue?queue=strange&state=buried', '/queue?queue=strange&state=ready', '/groups?queue=strange']) {
    const page = await visit(path);
    assert.notEqual(await page.title(), 'owned');
    assert.equal(await page.locator('main script, main img').count(), 0, path);
    for (const href of await page.locator('main a[href*="/job?"]').evaluateAll((links) => links.map((link) => link.href))) {
      await page.goto(href);
      assert.notEqual(await page.title(), 'owned');
      assert.equal(await page.locator('main script, main img').count(), 0, href);
    }
    assert.deepEqual(page.complaints, []);
    await page.close();
  }
});

test('a page that is left open shows a new job within three seconds', async () => {
  const page = await visit('/queue?queue=imports&state=delayed');
  php("(new DelayQueue('imports'))->push(1, '1h', 'seen-later');");
  await page.getByRole('link', { name: 'seen-later' }).waitFor({ timeout: 3000 });
  assert.deepEqual(page.complaints, []);
  await page.close();
});

test('a lost connection is told, and the page comes back by itself', async () => {
  const page = await visit('/');
  await page.context().setOffline(true);
  await page.getByText('The connection is lost').waitFor({ timeout: 10_000 });
  await page.context().setOffline(false);
  await page.getByText('The connection is lost').waitFor({ state: 'hidden', timeout: 10_000 });
  await page.close();
});

test('a job is pushed, moved, edited, run and cancelled', async () => {
  const page = await visit('/queue?queue=orders');
  await page.getByText('Push a job').click();
  await page.getByLabel('Payload, JSON').fill('{"order":7}');
  await page.getByLabel('Delay').fill('2h');
  await page.getByLabel('Id', { exact: true }).first().fill('by-hand');
  await page.getByRole('button', { name: 'Push' }).click();
  await page.getByText('The job was pushed.').waitFor();
  assert.equal(peek('orders', 'by-hand').body, '{"order":7}');

  await page.getByLabel('Due in').fill('4h');
  await page.getByRole('button', { name: 'Move it' }).click();
  await page.getByText('The job has a new time.').waitFor();
  assert.ok(peek('orders', 'by-hand').dueIn > 3 * 3600);

  await page.getByText('Edit the payload').click();
  await page.getByLabel('JSON').fill('{"order":8}');
  await page.getByRole('button', { name: 'Store it' }).click();
  await page.getByText('The job has a new payload.').waitFor();
  assert.equal(peek('orders', 'by-hand').body, '{"order":8}');

  await page.getByRole('button', { name: 'Run it now' }).click();
  await page.getByText('The job is ready now.').waitFor();
  assert.equal(peek('orders', 'by-hand').state, 'ready');

  await page.getByText('Cancel it', { exact: true }).click();
  await page.getByRole('button', { name: 'Cancel this job' }).click();
  await page.getByText('The job was cancelled.').waitFor();
  assert.equal(peek('orders', 'by-hand'), null);

  await page.goto(`${site.url}/queue?queue=orders`);
  await page.getByLabel('Id', { exact: true }).last().fill('order-1');
  await page.getByRole('button', { name: 'Open', exact: true }).click();
  await page.getByRole('button', { name: 'Push a copy' }).click();
  await page.getByText('The job was pushed.').waitFor();
  const copy = new URL(page.url()).searchParams.get('id');
  assert.deepEqual([peek('orders', copy).state, peek('orders', copy).body], ['ready', '{"order":1}']);
  assert.deepEqual(page.complaints, []);
  await page.close();
});

test('a queue is paused for some time and opened, also without JavaScript', async () => {
  const page = await visit('/queue?queue=orders', { javaScriptEnabled: false });
  await page.getByLabel('For').selectOption('1 hour');
  await page.getByRole('button', { name: 'Pause' }).click();
  await page.getByText('The queue is paused').waitFor();
  assert.equal(php("echo (new DelayQueue('orders'))->isPaused() ? 'yes' : 'no';"), 'yes');
  await page.getByRole('button', { name: 'Open the queue' }).click();
  await page.getByText('The queue is open again.').waitFor();
  assert.equal(php("echo (new DelayQueue('orders'))->isPaused() ? 'yes' : 'no';"), 'no');
  await page.close();
});

test('a group is closed, opened, and its jobs are cancelled', async () => {
  const page = await visit('/groups?queue=imports');
  const row = page.getByRole('row', { name: /^initech/ });
  await row.getByRole('button', { name: 'Close' }).click();
  await page.getByText('The group is closed').waitFor();
  assert.equal(php("echo (new DelayQueue('imports'))->isPaused('initech') ? 'yes' : 'no';"), 'yes');
  await row.getByRole('button', { name: 'Open' }).click();
  await page.getByText('The group is open again.').waitFor();
  await row.getByText('Cancel its jobs').click();
  await row.getByRole('button', { name: 'Cancel 2 jobs' }).click();
  await page.getByText('Jobs that are changed: 2.').waitFor();
  assert.equal(php("echo (new DelayQueue('imports'))->groupStats('initech')->waiting;"), '0');
  await page.close();
});

test('all buried jobs of one error are tried again', async () => {
  const page = await visit('/errors?queue=mails');
  await page.getByRole('row', { name: /^3 / }).getByRole('link', { name: /SMTP/ }).click();
  await page.getByText('3 found in 4 jobs.').waitFor();
  await page.getByText('Change all that are found').click();
  await page.getByRole('button', { name: 'Try them again' }).click();
  await page.getByText('Jobs that are changed: 3.').waitFor();
  assert.equal(php("$q = new DelayQueue('mails'); echo $q->count(DelayQueue\\State::Ready), ' ', $q->count(DelayQueue\\State::Buried);"), '3 1');
  assert.deepEqual(page.complaints, []);
  await page.close();
});

test('jobs that are found are moved to another time and to another queue', async () => {
  php("$q = new DelayQueue('found'); foreach ([1, 2, 3] as $n) { $q->push($n, '1h', \"f$n\", headers: ['tenant' => $n === 3 ? 'globex' : 'acme']); }");
  const page = await visit('/queue?queue=found&state=delayed');
  await page.getByLabel('Header').fill('tenant: acme');
  await page.getByRole('button', { name: 'Search' }).click();
  await page.getByText('2 found in 3 jobs.').waitFor();
  await page.getByText('Change all that are found').click();
  await page.getByLabel('Due in').fill('4h');
  await page.getByRole('button', { name: 'Move them', exact: true }).click();
  await page.getByText('Jobs that are changed: 2.').waitFor();
  assert.ok(peek('found', 'f1').dueIn > 3 * 3600 && peek('found', 'f3').dueIn < 2 * 3600);
  await page.getByText('Change all that are found').click();
  await page.getByLabel('To the queue').fill('elsewhere');
  await page.getByRole('button', { name: 'Move them there' }).click();
  await page.getByText('Jobs that are changed: 2.').waitFor();
  assert.deepEqual([peek('found', 'f1'), peek('elsewhere', 'f2').body], [null, '2']);
  assert.deepEqual(page.complaints, []);
  await page.close();
});

test('a hidden tab asks for nothing, and catches up when it is seen', async () => {
  const page = await visit('/queue?queue=imports&state=delayed');
  const show = (hidden) => page.evaluate(`Object.defineProperty(document, 'hidden', { value: ${hidden}, configurable: true }); document.dispatchEvent(new Event('visibilitychange'));`);
  await show(true);
  await page.waitForTimeout(500); // a request that has begun before is told by then
  let asked = 0;
  page.on('request', () => asked++);
  php("(new DelayQueue('imports'))->push(1, '1h', 'while-hidden');");
  await page.waitForTimeout(3000);
  assert.equal(asked, 0);
  await show(false);
  await page.getByRole('link', { name: 'while-hidden' }).waitFor({ timeout: 10_000 });
  await page.close();
});

test('a change of many jobs goes on by itself, and with a click where there is no JavaScript', async () => {
  const push = "(new DelayQueue('many'))->pushMany((static function () { for ($n = 0; $n < 1800; ++$n) { yield ['payload' => $n, 'delay' => '1h']; } })());";
  for (const javaScriptEnabled of [true, false]) {
    php(push);
    const page = await visit('/queue?queue=many', { javaScriptEnabled });
    await page.getByText('Change all delayed jobs').click();
    await page.getByText('Cancel them', { exact: true }).click();
    await page.getByRole('button', { name: 'Cancel them for ever' }).click();
    for (let step = 0; step < 3 && !javaScriptEnabled; step++) {
      await page.getByText(`of 1\u{202F}800 are read`).waitFor();
      await page.getByRole('button', { name: 'Go on' }).click();
    }
    await page.getByText('Jobs that are changed: 1\u{202F}800.').waitFor();
    assert.equal(php("echo (new DelayQueue('many'))->count();"), '0');
    assert.deepEqual(page.complaints, []);
    await page.close();
  }
});

test('a change of many jobs is stopped between two steps', async () => {
  php("(new DelayQueue('stopped'))->pushMany((static function () { for ($n = 0; $n < 6000; ++$n) { yield ['payload' => $n, 'delay' => '1h']; } })());");
  const page = await visit('/queue?queue=stopped');
  await page.getByText('Change all delayed jobs').click();
  await page.getByRole('button', { name: 'Run them now' }).click();
  await page.getByRole('link', { name: 'Stop here' }).click();
  await page.getByText('Jobs that are changed:').waitFor();
  const ready = Number(php("echo (new DelayQueue('stopped'))->count(DelayQueue\\State::Ready);"));
  assert.ok(ready >= 200 && ready < 6000, `${ready} jobs are ready`);
  assert.deepEqual(page.complaints, []);
  await page.close();
});

test('an address that somebody else has made begins no change', async () => {
  php("(new DelayQueue('linked'))->push(1, '1h', 'a');");
  const page = await open(chromium);
  const answer = await page.goto(`${site.url}/found?queue=linked&state=delayed&change=cancel&total=1`);
  assert.equal(answer.status(), 404);
  assert.equal(php("echo (new DelayQueue('linked'))->count();"), '1');
  await page.close();
});

test('a queue that is none is not found, and the one that was meant is named', async () => {
  const page = await open(chromium);
  const answer = await page.goto(`${site.url}/queue?queue=order`);
  assert.equal(answer.status(), 404);
  await page.getByRole('link', { name: 'orders', exact: true }).click();
  await page.getByText('Falls due').waitFor();
  await page.close();
});

test('a schedule is run, paused, resumed and removed', async () => {
  const page = await visit('/schedules');
  const row = page.getByRole('row', { name: /^poll-4711/ });
  for (const [button, told] of [['Run now', 'A job of the schedule was pushed.'], ['Pause', 'The schedule is paused'], ['Resume', 'The schedule goes on']]) {
    await row.getByRole('button', { name: button }).click();
    await page.getByText(told).waitFor();
  }
  assert.equal(php("echo (new DelayQueue('polls'))->count();"), '1');
  await row.getByText('Remove', { exact: true }).click();
  await row.getByRole('button', { name: 'Remove this schedule' }).click();
  await page.getByText('The schedule was removed.').waitFor();
  assert.equal(php("echo (new DelayQueue('schedules'))->peek('poll-4711') === null ? 'gone' : 'there';"), 'gone');
  await page.close();
});

test('a worker is seen with its job, and told to stop', async () => {
  const { spawn } = await import('node:child_process');
  const worker = spawn(process.env.PHP, ['-r', "$q = new DelayQueue('long'); $q->push(1, id: 'slow'); $q->consume(static fn () => sleep(60), maxJobs: 1);"], { stdio: 'ignore' });
  const page = await visit('/workers');
  const row = page.getByRole('row', { name: new RegExp(`:${worker.pid} `) });
  await row.getByRole('link', { name: 'long slow' }).waitFor({ timeout: 20_000 });
  for (const [button, told] of [['Pause', /told to pause|paused/], ['Restart', /told to (pause, )?restart|stopping/]]) {
    await row.getByRole('button', { name: button }).click();
    await page.getByText('The worker was told.').waitFor();
    await row.getByText(told).first().waitFor({ timeout: 20_000 });
  }
  await row.getByRole('button', { name: 'Stop' }).click();
  await page.getByText('The worker was told.').waitFor();
  await row.getByText('told to stop').or(row.getByText('stopping')).first().waitFor({ timeout: 20_000 });
  worker.kill('SIGKILL');
  await page.close();
});

test('all can be reached and done with the keyboard', async () => {
  const page = await visit('/queue?queue=mails&state=buried');
  const focused = () => page.evaluate('document.activeElement.textContent || document.activeElement.value || ""');
  await page.keyboard.press('Tab');
  assert.equal(await focused(), 'To the content');
  const seen = [];
  for (let step = 0; step < 60; step++) {
    await page.keyboard.press('Tab');
    seen.push(await focused());
  }
  for (const text of ['Queues', 'Pause', 'Push a job', 'mail-1']) {
    assert.ok(seen.some((name) => name.includes(text)), `${text} has no focus: ${seen.join(', ')}`);
  }
  await page.close();
});

test('a look through many queues goes on by itself, and collects those in trouble', async () => {
  php("for ($n = 0; $n < 120; ++$n) { (new DelayQueue(sprintf('z%03d', $n)))->push(1, '1h', 'a'); } (new DelayQueue('z119'))->reserveJob('a')->bury('broken');");
  const page = await visit('/');
  await page.getByRole('link', { name: 'Look through all for trouble' }).click();
  await page.getByRole('link', { name: 'z119' }).waitFor();
  await page.getByRole('link', { name: 'mails', exact: true }).waitFor();
  await page.getByRole('link', { name: 'All queues' }).waitFor();
  assert.equal(await page.getByRole('link', { name: 'z118' }).count(), 0);
  assert.deepEqual(await violations(page), []);
  assert.deepEqual(page.complaints, []);
  await page.close();
});

test('whoever only reads is offered no change', async () => {
  const reader = await dashboard('--read-only');
  const page = await open(chromium);
  for (const path of Object.values(PAGES)) {
    await page.goto(reader.url + path);
    assert.equal(await page.locator('form[method=post]').count(), 0, path);
  }
  await page.close();
  await reader.stop();
});
