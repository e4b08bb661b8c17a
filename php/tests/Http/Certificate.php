<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Http;

/** A self-signed certificate. */
final class Certificate
{
    /** @return string a new file with certificate and key, to be removed by the caller */
    public static function make(string $host): string
    {
        $key = openssl_pkey_new(['private_key_type' => OPENSSL_KEYTYPE_EC, 'curve_name' => 'prime256v1']);
        $request = openssl_csr_new(['commonName' => $host], $key, ['digest_alg' => 'sha256']);
        $certificate = openssl_csr_sign($request, null, $key, 2, ['digest_alg' => 'sha256']);
        openssl_x509_export($certificate, $first);
        openssl_pkey_export($key, $second);
        $file = (string) tempnam(sys_get_temp_dir(), 'delayqueue-certificate-');
        file_put_contents($file, $first . $second);

        return $file;
    }
}
