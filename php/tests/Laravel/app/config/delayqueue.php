<?php

// A test of the dashboard says in TEST_DASHBOARD what it wants other than the defaults.
return ['dashboard' => json_decode(getenv('TEST_DASHBOARD') ?: '[]', true)];
